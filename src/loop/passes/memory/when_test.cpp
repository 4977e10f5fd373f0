// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/memory/when.h"

#include <gtest/gtest.h>

#include "loop/passes/memory/boundary.h"
#include "loop/passes/memory/in_place.h"
#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

// In a loop that changes x: a depends on w alone, y on both.
struct Body : TestRegion {
    const ir::TensorId x = tensor("x", {4}), w = tensor("w", {4}), a = tensor("a", {4}),
                       y = tensor("y", {4});

    Body() {
        map("a", a, [&](const auto& i) { return read(w, i); });
        map("y", y, [&](const auto& i) { return make(Op::Add, read(a, i), read(x, i)); });
        graph.results = {y};
        region.kind = RegionKind::Loop;
        region.changing = {x};
    }
};

TEST(FindBoundary, OthersSeeWhatComesInAndGoesOut) {
    Body t;
    EXPECT_EQ(find_boundary(t.region), 3);
    EXPECT_EQ(t.region.outer, (TensorSet{t.x, t.w}));
    EXPECT_FALSE(t.region.fixed.contains(t.a));
}

TEST(MarkInvariants, WhatTheLoopDoesNotChange) {
    Body t;
    EXPECT_EQ(mark_invariants(t.region), 1);
    EXPECT_EQ(t.graph.constants, TensorSet{t.w});
    t.region.kind = RegionKind::Main;
    EXPECT_EQ(mark_invariants(t.region), 0);
}

TEST(FindWhen, WhatALoopWouldRepeatRunsBeforeIt) {
    Body t;
    find_boundary(t.region);
    EXPECT_EQ(find_when(t.region), 1);
    EXPECT_EQ(t.region.lifted, TensorSet{t.a});
    EXPECT_EQ(t.region.written, TensorSet{t.y});
}

TEST(FindInPlace, TheLastReaderTakesTheMemory) {
    TestRegion t;
    const ir::TensorId x = t.input("x", {4}), a = t.tensor("a", {4}), b = t.tensor("b", {4});
    const ir::TensorId y = t.tensor("y", {4});
    t.map("a", a, [&](const auto& i) { return t.read(x, i); });
    t.map("b", b, [&](const auto& i) { return t.read(a, i); });
    t.map("y", y, [&](const auto& i) { return t.read(b, i); });
    t.graph.results = {y};
    find_boundary(t.region);
    EXPECT_EQ(find_in_place(t.region), 1);
    EXPECT_EQ(t.region.in_place.at(b), a);
    t.map("again", t.tensor("again", {4}), [&](const auto& i) { return t.read(a, i); });
    find_in_place(t.region);
    EXPECT_FALSE(t.region.in_place.contains(b)) << "another one reads it later";
}

}  // namespace
}  // namespace lemma::loop
