// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/lift.h"

#include <gtest/gtest.h>

#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

// The body of a loop over six items x, which carries p: k = x * w, y = k + p.
struct Recurrence : TestRegion {
    const ir::TensorId x = tensor("x", {8, 32}), w = tensor("w", {32, 24}),
                       p = tensor("p", {8, 24}), k = tensor("k", {8, 24}), y = tensor("y", {8, 24});

    Recurrence() {
        sum("k", k, {32}, [&](const auto& i) {
            return make(Op::Mul, read(x, {i[0], i[2]}), read(w, {i[2], i[1]}));
        });
        map("y", y, [&](const auto& i) { return make(Op::Add, read(k, i), read(p, i)); });
        graph.results = {y};
        region.kind = RegionKind::Loop;
        region.changing = {x, p};
        region.packs[x] = {make_id<StorageId>(0), 8 * 32, 6};
        region.steps = 6;
    }
};

TEST(LiftSums, ProductsOfItemsAreOneBeforeTheLoop) {
    Recurrence t;
    EXPECT_EQ(lift_sums(t.region), 1);
    ASSERT_EQ(t.region.made_items.size(), 1U);
    const auto [item, all] = t.region.made_items[0];
    EXPECT_EQ(item, t.k);
    EXPECT_EQ(t.graph.shapes.at(all), (tensor::Shape{6, 8, 24}));
    EXPECT_EQ(t.graph.groups[0].writes, std::vector<ir::TensorId>{all});
    EXPECT_EQ(verify(t.region), "");
}

TEST(LiftSums, NotOfWhatChangesFromStepToStep) {
    Recurrence t;
    t.region.changing.insert(t.w);
    EXPECT_EQ(lift_sums(t.region), 0);
}

TEST(LiftSums, NotOutsideOfLoops) {
    Recurrence t;
    t.region.kind = RegionKind::Once;
    EXPECT_EQ(lift_sums(t.region), 0);
}

}  // namespace
}  // namespace lemma::loop
