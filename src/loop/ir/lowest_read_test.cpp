// SPDX-License-Identifier: Apache-2.0
#include "loop/ir/lowest_read.h"

#include <gtest/gtest.h>

namespace lemma::loop {
namespace {

// Rows of 100 elements in panels of four: an item is one of ten columns of a panel.
Function panels(bool by_value) {
    Function f;
    Builder build(f);
    f.item = build.var("item");
    f.items = 50;
    const BufferId from = build.buffer("from", tensor::DType::F32, false);
    const BufferId to = build.buffer("to", tensor::DType::F32, true);
    const VarId panel = build.var("panel");
    const VarId column = build.var("column");
    const VarId row = build.var("row");
    const ExprId ten = build.integer(10);
    f.body.push_back({Bind{panel, build.make(Op::Div, {build.index(f.item), ten})}});
    f.body.push_back({Bind{column, build.make(Op::Mod, {build.index(f.item), ten})}});
    Address read;
    read.add(panel, 400);
    read.add(column, 10);
    read.add(row, 100);
    read.offset = 7;
    if (by_value) read.dynamic = build.index(row);
    Address written;
    written.add(f.item, 4);
    written.add(row, 1);
    For rows{row, build.integer(0), build.integer(4), 1, {}};
    rows.body.push_back({StoreStmt{to, written, build.load(from, read), {}}});
    f.body.push_back({std::move(rows)});
    return f;
}

TEST(LowestRead, FollowsItemsThatAreTakenApart) {
    const Function f = panels(false);
    const auto from = make_id<BufferId>(0);
    EXPECT_EQ(lowest_read(f, from, 0), 7);
    EXPECT_EQ(lowest_read(f, from, 9), 7);  // the last column of the first panel
    EXPECT_EQ(lowest_read(f, from, 10), 407);
    EXPECT_EQ(lowest_read(f, from, 39), 1207);
    EXPECT_EQ(lowest_read(f, from, 49), 1697);  // one item is left, with a known column
}

TEST(LowestRead, SaysNothingOfAddressesThatAreComputed) {
    EXPECT_EQ(lowest_read(panels(true), make_id<BufferId>(0), 10), std::nullopt);
    EXPECT_EQ(lowest_read(panels(false), make_id<BufferId>(1), 10), std::nullopt);  // never read
}

}  // namespace
}  // namespace lemma::loop
