// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/contract.h"

#include <gtest/gtest.h>

#include "loop/passes/contraction/fold.h"
#include "loop/passes/contraction/layouts.h"
#include "loop/passes/contraction/pack.h"
#include "loop/passes/contraction/squares.h"
#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"
#include "loop/schedule/points.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

// y[i, j] = sum over k of x[i, k] * w[k, j]
struct Product : TestRegion {
    explicit Product(int64_t rows) {
        const ir::TensorId x = input("x", {rows, 32}), w = weights("w", {32, 24});
        const ir::TensorId y = tensor("y", {rows, 24});
        sum("y", y, {32}, [&](const auto& i) {
            return make(Op::Mul, read(x, {i[0], i[2]}), read(w, {i[2], i[1]}));
        });
        graph.results = {y};
    }
    FusionGroup& group() { return graph.groups.back(); }
};

TEST(FindContractions, LanesAreThoseOfTheWeights) {
    Product t(16);
    EXPECT_EQ(find_contractions(t.graph), 1);
    const Contraction& c = t.group().contraction.value();
    const auto& loops = t.group().stages[0].loops;
    EXPECT_EQ(c.lane, loops[1].var);
    EXPECT_EQ(c.points, std::vector<VarId>{loops[0].var});
    EXPECT_EQ(c.reduced, std::vector<VarId>{loops[2].var});
    EXPECT_EQ(verify(t.region), "");
}

TEST(FindContractions, NotOfAFewSteps) {
    Product t(2);
    EXPECT_EQ(find_contractions(t.graph), 0);
}

// Batches as lanes would have to be transposed.
TEST(FindContractions, LanesAreTheFewColumnsOfSmallProducts) {
    for (const bool constant : {false, true}) {
        TestRegion t;
        const ir::TensorId x = t.input("x", {64, 24, 7});
        const ir::TensorId w = constant ? t.weights("w", {64, 7, 4}) : t.input("w", {64, 7, 4});
        const ir::TensorId y = t.tensor("y", {64, 24, 4});
        t.sum("y", y, {7}, [&](const auto& i) {
            return t.make(Op::Mul, t.read(x, {i[0], i[1], i[3]}), t.read(w, {i[0], i[3], i[2]}));
        });
        ASSERT_EQ(find_contractions(t.graph), 1);
        const Contraction& c = t.graph.groups.back().contraction.value();
        EXPECT_EQ(c.lane, t.graph.groups.back().stages[0].loops[2].var);
        EXPECT_FALSE(c.lane_in_a);
        EXPECT_EQ(c.in_place, !constant);
        EXPECT_EQ(verify(t.region), "");
    }
}

// Convolutions of one element: the lanes run on from row to row, where rows are adjacent.
TEST(MergeLanes, RowsThatAreAdjacentAreOne) {
    for (const bool halo : {false, true}) {
        TestRegion t;
        const ir::TensorId x = t.input("x", {90, 13, 11}), w = t.weights("w", {40, 90});
        const ir::TensorId y = t.tensor("y", {40, 13, 11});
        t.sum("y", y, {90}, [&](const auto& i) {
            return t.make(Op::Mul, t.read(x, {i[3], i[1], i[2]}), t.read(w, {i[0], i[3]}));
        });
        FusionGroup& group = t.graph.groups.back();
        ASSERT_EQ(find_contractions(t.graph), 1);
        const auto natural = find_natural(t.graph, group.stages[0], *group.contraction);
        ASSERT_TRUE(natural);
        Contraction c = *natural;
        for (const auto& [id, shape] : t.graph.shapes) {
            t.places[id] = {{}, tensor::DType::F32, shape, row_major(shape)};
        }
        if (halo) t.places[x].layout.strides = {13 * 12, 12, 1};
        const Lanes lanes = merge_lanes(group.stages[0], c, t.pool, t.places);
        EXPECT_EQ(lanes.extent, halo ? 11 : 13 * 11);
        EXPECT_EQ(lanes.merged.size(), halo ? 0U : 1U);
        choose_tile(group.stages[0], t.pool, t.places, {.registers = 32}, c);
        EXPECT_EQ(c.copies, !halo);
        EXPECT_EQ(c.stacked.valid(), halo);
    }
}

// Rows a page apart share few places in the cache.
TEST(ChooseTile, FewRowsThatLieAPageApart) {
    for (const int64_t steps : {1000, 1024}) {
        TestRegion t;
        const ir::TensorId x = t.input("x", {64, steps}), w = t.weights("w", {steps, 4});
        const ir::TensorId y = t.tensor("y", {64, 4});
        t.sum("y", y, {steps}, [&](const auto& i) {
            return t.make(Op::Mul, t.read(x, {i[0], i[2]}), t.read(w, {i[2], i[1]}));
        });
        ASSERT_EQ(find_contractions(t.graph), 1);
        for (const auto& [id, shape] : t.graph.shapes) {
            t.places[id] = {{}, tensor::DType::F32, shape, row_major(shape)};
        }
        FusionGroup& group = t.graph.groups.back();
        choose_tile(group.stages[0], t.pool, t.places, {.registers = 32}, *group.contraction);
        EXPECT_EQ(group.contraction->columns > 8, steps == 1000) << group.contraction->columns;
    }
}

TEST(FoldScales, TheScaleOfAChannelGoesIntoTheWeights) {
    Product t(16);
    const ir::TensorId f = t.weights("f", {24});
    Stage& stage = t.group().stages[0];
    stage.total = t.read(stage.writes[0].tensor, stage.writes[0].index);
    stage.finish = t.make(Op::Mul, stage.total, t.read(f, {stage.writes[0].index[1]}));
    find_reads(t.graph, t.group());
    ASSERT_EQ(find_contractions(t.graph), 1);
    EXPECT_EQ(fold_scales(t.graph), 1);
    EXPECT_EQ(t.labels(), (Labels{"y start", "y"}));
    EXPECT_TRUE(t.group().weight_factor.valid());
    EXPECT_EQ(t.group().stages[0].finish, t.group().stages[0].total);
    EXPECT_EQ(verify(t.region), "");
}

TEST(ChooseLayouts, AResultInsideHasItsLanesInnermost) {
    Product t(16);
    const ir::TensorId y = t.group().writes[0];
    const ir::TensorId turned = t.tensor("turned", {24, 16});
    StageWrite& write = t.group().stages[0].writes[0];
    write.tensor = turned;
    std::swap(write.index[0], write.index[1]);
    t.group().writes = {turned};
    ASSERT_EQ(find_contractions(t.graph), 1);
    EXPECT_EQ(choose_layouts(t.graph, {y}).innermost.at(turned), 0U);
    EXPECT_TRUE(choose_layouts(t.graph, {turned}).innermost.empty());
}

TEST(PackWeights, AGroupBeforeTheContractionPacks) {
    Product t(16);
    ASSERT_EQ(find_contractions(t.graph), 1);
    for (const auto& [id, shape] : t.graph.shapes) {
        t.places[id] = {{}, tensor::DType::F32, shape, row_major(shape)};
    }
    EXPECT_EQ(pack_weights(t.region, {}), 1);
    EXPECT_EQ(t.labels(), (Labels{"y pack", "y"}));
    EXPECT_TRUE(t.graph.groups[0].once);
    EXPECT_EQ(t.graph.groups[0].writes[0], t.group().contraction->packed);
    EXPECT_EQ(verify(t.region), "");
}

TEST(FindSquares, BothSidesHaveTheirSumsOfSquares) {
    TestRegion t;
    const ir::TensorId a = t.input("a", {37, 29}), b = t.input("b", {45, 29});
    const ir::TensorId z = t.tensor("z", {37, 45});
    t.sum("z", z, {29}, [&](const auto& i) {
        const ExprId d = t.make(Op::Sub, t.read(a, {i[0], i[2]}), t.read(b, {i[1], i[2]}));
        return t.make(Op::Mul, d, d);
    });
    ASSERT_EQ(find_contractions(t.graph), 1);
    EXPECT_EQ(find_squares(t.graph, Numerics::Default), 1);
    EXPECT_EQ(t.labels(), (Labels{"z squares", "z squares", "z"}));
    EXPECT_EQ(verify(t.region), "");
}

}  // namespace
}  // namespace lemma::loop
