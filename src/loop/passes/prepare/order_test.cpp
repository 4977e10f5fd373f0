// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/order.h"

#include <gtest/gtest.h>

#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

struct TwoResults : TestRegion {
    TwoResults() {
        const ir::TensorId x = input("x", {4}), b = tensor("b", {4}), a = tensor("a", {4});
        map("second", b, [&](const auto& i) { return read(x, i); });
        map("first", a, [&](const auto& i) { return read(x, i); });
        graph.results = {a, b};
    }
};

TEST(OrderGroups, ByTheNamesOfTheResults) {
    TwoResults t;
    EXPECT_EQ(order_groups(t.region), 2);
    EXPECT_EQ(t.labels(), (Labels{"first", "second"}));
    EXPECT_EQ(order_groups(t.region), 0);
}

TEST(OrderGroups, NotWhereTheInterpreterIsBetween) {
    TwoResults t;
    t.graph.groups[0].kind = InterpretedGroup{};
    EXPECT_EQ(order_groups(t.region), 0);
    EXPECT_EQ(t.labels(), (Labels{"second", "first"}));
}

}  // namespace
}  // namespace lemma::loop
