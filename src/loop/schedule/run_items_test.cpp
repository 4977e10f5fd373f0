// SPDX-License-Identifier: Apache-2.0
#include "loop/schedule/run_items.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace lemma::loop {
namespace {

TEST(RunItems, AnItemDoesEnoughWork) {
    EXPECT_EQ(piece_of(100, 100), 100);             // short steps stay together
    EXPECT_EQ(piece_of(100, 100 * kLeastWork), 2);  // of 64 items at most
    EXPECT_EQ(piece_of(16, 16 * kLeastWork), 1);
    EXPECT_EQ(piece_of(1, 1), 1);
}

TEST(RunItems, ItemsCoverAllSteps) {
    const RunItems items{
        .one = false, .outermost = {0, 3}, .together = 16, .inner = {{1, 1}, {std::nullopt, 10}}};
    for (const int64_t outer : {0, 1, 5, 6, 1000, 123457}) {
        for (const int64_t inner : {0, 1, 77, 5000}) {
            const int64_t numbers[] = {outer, inner};
            const RunCut cut = cut_items(items, numbers);
            const int64_t vectors = 3 * outer / 16;
            EXPECT_GE(cut.steps, 1);
            EXPECT_LE(cut.items, kEnoughItems);
            EXPECT_EQ(cut.items > 0, outer > 0);
            EXPECT_GE(cut.items * cut.steps, vectors);
            // The last item has steps, so one item does the rest.
            EXPECT_TRUE(vectors == 0 || (cut.items - 1) * cut.steps < vectors);
        }
    }
}

TEST(RunItems, StepsInOrderAreOneItem) {
    const RunCut cut = cut_items({}, {});
    EXPECT_EQ(cut.items, 1);
}

TEST(RunItems, HugeExtentsDoNotOverflow) {
    const RunItems items{.one = false,
                         .outermost = {0, int64_t{1} << 40},
                         .inner = {{0, int64_t{1} << 40}, {0, int64_t{1} << 40}}};
    const int64_t numbers[] = {int64_t{1} << 33};
    const RunCut cut = cut_items(items, numbers);
    EXPECT_GE(cut.items, 1);
    EXPECT_LE(cut.items, kEnoughItems);
}

}  // namespace
}  // namespace lemma::loop
