// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/init.h"

#include <gtest/gtest.h>

#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

struct Reduction : TestRegion {
    const ir::TensorId x = input("x", {4, 8}), b = input("b", {4}), y = tensor("y", {4});
    FusionGroup& group = map("y", y, [&](const auto& i) { return read(b, i); });

    // y[i] += value
    void add_sum(const Value& value) {
        Stage stage = stage_of(y, {8}, value);
        stage.combine = ir::FormulaOp::Sum;
        group.stages.push_back(std::move(stage));
    }
};

TEST(MergeInit, TheAssignmentBecomesTheInitialValue) {
    Reduction t;
    t.add_sum([&](const auto& i) { return t.read(t.x, i); });
    EXPECT_EQ(merge_init(t.graph, t.group), 1);
    ASSERT_EQ(t.group.stages.size(), 1U);
    EXPECT_EQ(t.pool[t.group.stages[0].initial].op, Op::Read);
    EXPECT_EQ(verify(t.region), "");
}

TEST(MergeInit, NotWhereTheSumReadsItself) {
    Reduction t;
    t.add_sum([&](const auto& i) { return t.read(t.y, {i[0]}); });
    EXPECT_EQ(merge_init(t.graph, t.group), 0);
    EXPECT_EQ(t.group.stages.size(), 2U);
}

}  // namespace
}  // namespace lemma::loop
