// SPDX-License-Identifier: Apache-2.0
#include "loop/ir/lowest_read.h"

#include <gtest/gtest.h>

#include <functional>

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

// Two loops, one behind the other, read rows of ten elements with one variable. The first takes
// the rows from `begin` to `end`, the second the rows from 20 to 30.
struct TwoLoops {
    Function f;
    BufferId from;
    VarId row;
};
TwoLoops two_loops(const std::function<ExprId(Builder&)>& begin, bool bound) {
    TwoLoops two;
    Function& f = two.f;
    Builder build(f);
    f.item = build.var("item");
    f.items = 4;
    two.from = build.buffer("from", tensor::DType::F32, false);
    const BufferId to = build.buffer("to", tensor::DType::F32, true);
    two.row = build.var("row");
    const VarId step = build.var("step");
    Address read;
    read.add(two.row, 10);
    Address written;
    written.add(f.item, 1);
    const StoreStmt store{to, written, build.load(two.from, read), {}};
    const auto loop = [&](ExprId first, ExprId end) {
        // Either the loop variable is the row, or a binding inside of the loop is.
        For rows{bound ? step : two.row, first, end, 1, {}};
        if (bound) rows.body.push_back({Bind{two.row, build.index(step)}});
        rows.body.push_back({store});
        f.body.push_back({std::move(rows)});
    };
    loop(begin(build), build.integer(5));
    loop(build.integer(20), build.integer(30));
    return two;
}

TEST(LowestRead, JoinsTheLoopsOfOneVariable) {
    for (const bool bound : {false, true}) {
        const TwoLoops two = two_loops([](Builder& build) { return build.integer(2); }, bound);
        EXPECT_EQ(verify(two.f), "");
        EXPECT_EQ(lowest_read(two.f, two.from, 0), 20) << bound;
    }
}

TEST(LowestRead, SaysNothingIfOneOfTheLoopsIsUnknown) {
    for (const bool bound : {false, true}) {
        const TwoLoops two = two_loops(
            [](Builder& build) {
                const BufferId numbers = build.buffer("numbers", tensor::DType::I64, false);
                return build.load(numbers, {});
            },
            bound);
        EXPECT_EQ(verify(two.f), "");
        EXPECT_EQ(lowest_read(two.f, two.from, 0), std::nullopt) << bound;
    }
}

// A panel of four rows goes to a tile register, the last row of the panel to a vector.
TEST(LowestRead, CountsTheRowsOfTiles) {
    Function f;
    Builder build(f);
    f.item = build.var("item");
    f.items = 8;
    const BufferId from = build.buffer("from", tensor::DType::I8, false);
    const BufferId to = build.buffer("to", tensor::DType::I8, true);
    f.tiles.push_back({4, 64});
    Address panel;
    panel.add(f.item, 256);
    TileStmt load;
    load.action = TileAction::Load;
    load.buffer = from;
    load.address = panel;
    load.stride = 64;
    f.body.push_back({load});
    Address last = panel;
    last.offset = 192;
    Address written;
    written.add(f.item, 1);
    f.body.push_back({StoreStmt{to, written, build.load(from, last), {}}});
    EXPECT_EQ(verify(f), "");
    EXPECT_EQ(lowest_read(f, from, 2), 512);
}

}  // namespace
}  // namespace lemma::loop
