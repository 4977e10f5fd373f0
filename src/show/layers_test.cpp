// SPDX-License-Identifier: Apache-2.0
#include "show/layers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace lemma::show {
namespace {

Drawing random_drawing(uint32_t seed, size_t count) {
    std::mt19937 random(seed);
    Drawing drawing;
    for (size_t i = 0; i < count; ++i) {
        drawing.boxes.push_back(
            {.width = 40.0 + static_cast<double>(random() % 200), .height = 30});
        for (size_t k = random() % 3; i > 0 && k > 0; --k)
            drawing.arrows.push_back({.from = random() % i, .to = i, .points = {}});
    }
    return drawing;
}

TEST(Layers, BoxesDoNotOverlapAndArrowsLeadDown) {
    for (uint32_t seed = 0; seed < 50; ++seed) {
        Drawing drawing = random_drawing(seed, 1 + seed * 3);
        lay_out(drawing);
        for (size_t i = 0; i < drawing.boxes.size(); ++i) {
            const Box& a = drawing.boxes[i];
            EXPECT_GE(a.top.x - a.width / 2, 0) << "seed " << seed;
            EXPECT_LE(a.top.x + a.width / 2, drawing.width) << "seed " << seed;
            EXPECT_LE(a.top.y + a.height, drawing.height) << "seed " << seed;
            for (size_t k = 0; k < i; ++k) {
                const Box& b = drawing.boxes[k];
                if (a.layer != b.layer) continue;
                EXPECT_GE(std::fabs(a.top.x - b.top.x) + 0.01, (a.width + b.width) / 2)
                    << "seed " << seed;
            }
        }
        for (const Arrow& arrow : drawing.arrows) {
            EXPECT_LT(drawing.boxes[arrow.from].layer, drawing.boxes[arrow.to].layer);
            for (size_t i = 1; i < arrow.points.size(); ++i)
                EXPECT_GE(arrow.points[i].y, arrow.points[i - 1].y) << "seed " << seed;
        }
    }
}

TEST(Layers, AChainIsStraight) {
    Drawing drawing;
    for (size_t i = 0; i < 5; ++i) {
        drawing.boxes.push_back({.width = 50.0 + 10 * static_cast<double>(i), .height = 20});
        if (i > 0) drawing.arrows.push_back({.from = i - 1, .to = i, .points = {}});
    }
    lay_out(drawing);
    for (const Box& box : drawing.boxes) EXPECT_NEAR(box.top.x, drawing.boxes[0].top.x, 0.01);
}

TEST(Layers, TakesAnEmptyDrawing) {
    Drawing drawing;
    lay_out(drawing);
    EXPECT_EQ(drawing.width, 0);
}

}  // namespace
}  // namespace lemma::show
