// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/reshape.h"

#include <gtest/gtest.h>

#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

TEST(ComposeReshapes, TheReaderTakesWhatWasMadeFlat) {
    TestRegion t;
    const ir::TensorId x = t.input("x", {2, 6}), y = t.tensor("y", {4, 3});
    const ir::TensorId flat = t.tensor("flat", {12});
    Stage stage = t.stage_of(x, {}, [&](const auto& i) { return t.read(x, i); });
    const auto at = [&](ExprId i, int64_t stride, ExprId k) {
        return t.make(Op::Add, t.make(Op::Mul, i, t.build.integer(stride)), k);
    };
    stage.writes[0].tensor = flat;
    stage.writes[0].index = {at(stage.writes[0].index[0], 6, stage.writes[0].index[1])};
    t.add("flatten", std::move(stage));
    t.map("y", y, [&](const auto& i) { return t.read(flat, {at(i[0], 3, i[1])}); });
    EXPECT_EQ(compose_reshapes(t.graph), 1);
    EXPECT_EQ(t.graph.groups[1].reads, std::vector<ir::TensorId>{x});
    EXPECT_EQ(verify(t.region), "");
}

}  // namespace
}  // namespace lemma::loop
