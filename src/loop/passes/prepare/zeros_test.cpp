// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/zeros.h"

#include <gtest/gtest.h>

#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

TEST(AddZeros, WhereSomeElementsAreNotWritten) {
    TestRegion t;
    const ir::TensorId x = t.input("x", {4}), y = t.tensor("y", {8}), z = t.tensor("z", {4});
    Stage stage = t.stage_of(z, {}, [&](const auto& i) { return t.read(x, i); });
    stage.writes[0].tensor = y;
    stage.writes[0].index = {t.make(Op::Mul, stage.writes[0].index[0], t.build.integer(2))};
    t.add("spread", std::move(stage));
    t.map("copy", z, [&](const auto& i) { return t.read(x, i); });
    EXPECT_EQ(add_zeros(t.graph), 1);
    ASSERT_EQ(t.graph.groups[0].stages.size(), 2U);
    EXPECT_EQ(t.graph.groups[0].stages[0].writes[0].value, t.zero());
    EXPECT_EQ(t.graph.groups[1].stages.size(), 1U);
    EXPECT_EQ(verify(t.region), "");
}

}  // namespace
}  // namespace lemma::loop
