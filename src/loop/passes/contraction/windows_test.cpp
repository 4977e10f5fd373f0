// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/windows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loop/passes/contraction/contract.h"
#include "loop/passes/contraction/halo.h"
#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

struct Sizes {
    int64_t channels = 64, height = 28, width = 28, results = 64, taps = 3, stride = 1;
    bool constant = true;
};
// y[h, w, k] = sum over r, s, c of x[stride * h + r, stride * w + s, c] * f[k, r, s, c]
struct Convolution : TestRegion {
    explicit Convolution(Sizes s) {
        const int64_t height = (s.height - 1) * s.stride + s.taps;
        const int64_t width = (s.width - 1) * s.stride + s.taps;
        const ir::TensorId x = input("x", {height, width, s.channels});
        const tensor::Shape shape = {s.results, s.taps, s.taps, s.channels};
        const ir::TensorId f = s.constant ? weights("f", shape) : input("f", shape);
        const ir::TensorId y = tensor("y", {s.height, s.width, s.results});
        sum("y", y, {s.taps, s.taps, s.channels}, [&](const auto& i) {
            const auto at = [&](ExprId point, ExprId tap) {
                return make(Op::Add, make(Op::Mul, point, build.integer(s.stride)), tap);
            };
            return make(Op::Mul,
                        read(x, {at(i[0], i[3]), at(i[1], i[4]), i[5]}),
                        read(f, {i[2], i[3], i[4], i[5]}));
        });
        graph.results = {y};
        EXPECT_EQ(find_contractions(graph), 1);
    }
    const Contraction& contraction() { return *graph.groups.back().contraction; }
};

int found(Sizes sizes, Numerics numerics = Numerics::Default, double share = kWindowShare) {
    Convolution t(sizes);
    return find_windows(t.graph, {}, numerics, share);
}

TEST(FindWindows, OfThreeTapsAlongTwoAxes) {
    Convolution t(Sizes{});
    EXPECT_EQ(find_windows(t.graph, {}, Numerics::Default, kWindowShare), 1);
    const Window& window = t.contraction().window.value();
    const auto& loops = t.graph.groups.back().stages[0].loops;
    ASSERT_EQ(window.axes.size(), 2U);
    EXPECT_EQ(window.axes[0].point, loops[0].var);
    EXPECT_EQ(window.axes[0].tap, loops[3].var);
    EXPECT_EQ(window.axes[1].point, loops[1].var);
    EXPECT_EQ(window.channel, loops[5].var);
    EXPECT_EQ(window.outputs, 2);
    EXPECT_EQ(verify(t.region), "");
}

TEST(FindWindows, NotOfOtherSums) {
    EXPECT_EQ(found({.taps = 5}, Numerics::Fast, HUGE_VAL), 0);
    EXPECT_EQ(found({.stride = 2}, Numerics::Fast, HUGE_VAL), 0);
    EXPECT_EQ(found({.constant = false}, Numerics::Fast, HUGE_VAL), 0);
}

TEST(FindWindows, WhereItPays) {
    EXPECT_EQ(found({}, Numerics::Default, 0), 0);
    EXPECT_EQ(found({.channels = 3}), 0);
    // The transformed weights of a small image take longer to read than the products take.
    EXPECT_EQ(found({.channels = 512, .height = 4, .width = 4, .results = 512}), 0);
    EXPECT_EQ(found({.channels = 256, .height = 14, .width = 14, .results = 256}), 1);
}

TEST(FindWindows, FourOutputsWithFastNumericsOnly) {
    for (const auto& [numerics, outputs] :
         {std::pair{Numerics::Default, 2}, std::pair{Numerics::Fast, 4}}) {
        Convolution t(Sizes{});
        ASSERT_EQ(find_windows(t.graph, {}, numerics, kWindowShare), 1);
        EXPECT_EQ(t.contraction().window->outputs, outputs);
    }
}

// Every tile and every vector belongs to an item, and many threads have something to do.
TEST(CutItems, ForAnyNumberOfThreads) {
    for (const int64_t tiles : {1, 16, 49, 784}) {
        const WindowItems items{.positions = 16,
                                .axes = 2,
                                .channels = 256,
                                .tiles = tiles,
                                .vectors = 17,
                                .l2_bytes = int64_t{2} << 20,
                                .block = 2,
                                .points = 14,
                                .room = std::min<int64_t>(tiles, 56)};
        EXPECT_EQ(cut_items(items, 1).numbers(), cut_items(items, 2).numbers());
        for (const int64_t threads : {1, 2, 3, 5, 8, 16, 64}) {
            const WindowCut cut = cut_items(items, threads);
            EXPECT_LE(cut.tiles, items.room);
            EXPECT_TRUE(cut.tiles == tiles || cut.tiles % items.points == 0) << cut.tiles;
            EXPECT_EQ(cut.tile_blocks, (tiles + cut.tiles - 1) / cut.tiles);
            EXPECT_EQ(cut.groups, (9 + cut.in_group - 1) / cut.in_group);
            EXPECT_EQ(cut.items, cut.tile_blocks * cut.groups);
        }
        const int64_t many = cut_items(items, 8).items;
        EXPECT_TRUE(many >= 8 || many > cut_items(items, 1).items) << many;
    }
}

TEST(FindWindows, TheLastTilesReadZeros) {
    Convolution t({.height = 27, .width = 28});
    ASSERT_EQ(find_windows(t.graph, {}, Numerics::Default, kWindowShare), 1);
    Halo halo;
    widen_halo(t.pool, t.contraction(), {29, 30, 64}, halo);
    EXPECT_EQ(halo.above, (std::vector<int64_t>{1, 0, 0}));
    EXPECT_EQ(halo.below, (std::vector<int64_t>{0, 0, 0}));
}

}  // namespace
}  // namespace lemma::loop
