// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/once.h"

#include <gtest/gtest.h>

#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

TEST(MarkOnce, ConstantsMadeFromConstants) {
    TestRegion t;
    const ir::TensorId x = t.input("x", {4}), w = t.weights("w", {4});
    const ir::TensorId a = t.tensor("a", {4}), b = t.tensor("b", {4}), y = t.tensor("y", {4});
    t.graph.constants.clear();
    t.map("a", a, [&](const auto& i) { return t.read(w, i); });
    t.map("b", b, [&](const auto& i) { return t.read(a, i); });
    t.map("y", y, [&](const auto& i) { return t.make(Op::Add, t.read(b, i), t.read(x, i)); });
    EXPECT_EQ(mark_once(t.region), 2);
    EXPECT_TRUE(t.graph.groups[0].once && t.graph.groups[1].once);
    EXPECT_FALSE(t.graph.groups[2].once);
    EXPECT_TRUE(t.constants.contains(b));
    EXPECT_FALSE(t.constants.contains(y));
}

}  // namespace
}  // namespace lemma::loop
