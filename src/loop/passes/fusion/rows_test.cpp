// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/fusion/rows.h"

#include <gtest/gtest.h>

#include "loop/passes/fusion/store_along.h"
#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

// s[i] = sum over j of exp(x[i, j]), y[i, j] = e[i, j] / s[i]
struct Softmax : TestRegion {
    const ir::TensorId x = input("x", {16, 24}), e = tensor("e", {16, 24}), s = tensor("s", {16}),
                       y = tensor("y", {16, 24});

    Softmax() {
        map("e", e, [&](const auto& i) { return build.make(Op::Sqrt, {read(x, i)}); });
        sum("s", s, {24}, [&](const auto& i) { return read(e, i); });
        map("y", y, [&](const auto& i) { return make(Op::Div, read(e, i), read(s, {i[0]})); });
        graph.results = {y};
    }
};

TEST(StoreAlong, TheMapIsStoredWhileItIsSummed) {
    Softmax t;
    EXPECT_EQ(store_along(t.region), 1);
    EXPECT_EQ(t.labels(), (Labels{"s", "y"}));
    ASSERT_TRUE(t.graph.groups[0].stages[0].kept.has_value());
    EXPECT_EQ(t.graph.groups[0].stages[0].kept->tensor, t.e);
    EXPECT_EQ(verify(t.region), "");
}

TEST(StoreAlong, NotWhatLiesInTheMemoryOfAnother) {
    Softmax t;
    t.region.parents[t.e] = {t.y, 0};
    EXPECT_EQ(store_along(t.region), 0);
}

TEST(ShareRows, StagesOfOneRowAreOneKernel) {
    Softmax t;
    store_along(t.region);
    EXPECT_EQ(share_rows(t.region, {}), 1);
    EXPECT_EQ(t.labels(), Labels{"y"});
    ASSERT_TRUE(t.graph.groups[0].rows.has_value());
    EXPECT_TRUE(t.graph.groups[0].rows->numbers.contains(t.s));
    EXPECT_EQ(verify(t.region), "");
}

}  // namespace
}  // namespace lemma::loop
