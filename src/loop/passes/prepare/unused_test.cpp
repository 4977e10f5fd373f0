// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/unused.h"

#include <gtest/gtest.h>

#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

TEST(DropUnused, ChainsThatNobodyReads) {
    TestRegion t;
    const ir::TensorId x = t.input("x", {4}), y = t.tensor("y", {4});
    const ir::TensorId a = t.tensor("a", {4}), b = t.tensor("b", {4});
    t.map("a", a, [&](const auto& i) { return t.read(x, i); });
    t.map("b", b, [&](const auto& i) { return t.read(a, i); });
    t.map("y", y, [&](const auto& i) { return t.read(x, i); });
    t.graph.results = {y};
    EXPECT_EQ(drop_unused(t.graph), 2);
    EXPECT_EQ(t.labels(), Labels{"y"});
    EXPECT_EQ(drop_unused(t.graph), 0);
}

}  // namespace
}  // namespace lemma::loop
