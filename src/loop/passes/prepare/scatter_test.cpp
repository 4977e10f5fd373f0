// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/scatter.h"

#include <gtest/gtest.h>

#include "loop/passes/contraction/split.h"
#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

// y[2 * i + k] += x[i] * w[k]: each element gathers; there is one sum per remainder.
struct Scatter : TestRegion {
    const ir::TensorId x = input("x", {5}), w = input("w", {3}), y = tensor("y", {11});
    FusionGroup& group = sum("y", y, {}, [&](const auto&) { return zero(); });

    Scatter() {
        const VarId i = pool.new_var(5), k = pool.new_var(3);
        const ExprId at = build.index(i), tap = build.index(k);
        Stage& stage = group.stages[0];
        stage.loops = {{i, 5}, {k, 3}};
        stage.initial = {};
        stage.writes[0].index = {make(Op::Add, make(Op::Mul, at, build.integer(2)), tap)};
        stage.writes[0].value = make(Op::Mul, read(x, {at}), read(w, {tap}));
        find_reads(graph, group);
    }
};

TEST(InvertScatter, ElementsGather) {
    Scatter t;
    Stage& stage = t.group.stages[0];
    EXPECT_TRUE(invert_scatter(t.graph, stage));
    EXPECT_EQ(stage.inverses.size(), 1U);
    EXPECT_EQ(t.pool[stage.writes[0].index[0]].op, Op::Var);
    EXPECT_FALSE(invert_scatter(t.graph, stage)) << "each element has its own steps now";
}

TEST(SplitInverses, OneSumForEachRemainder) {
    Scatter t;
    ASSERT_TRUE(invert_scatter(t.graph, t.group.stages[0]));
    t.group.stages[0].initial = t.zero();
    EXPECT_EQ(split_inverses(t.graph), 1);
    ASSERT_EQ(t.graph.groups.size(), 2U);
    for (const FusionGroup& group : t.graph.groups) {
        EXPECT_TRUE(group.stages[0].inverses.empty());
    }
    EXPECT_EQ(verify(t.region), "");
    EXPECT_EQ(split_inverses(t.graph), 0);
}

}  // namespace
}  // namespace lemma::loop
