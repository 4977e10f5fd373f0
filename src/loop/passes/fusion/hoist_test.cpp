// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/fusion/hoist.h"

#include <gtest/gtest.h>

#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

// y[i, j] = x[i, j] / sqrt(w[j])
TEST(HoistConstants, WhatIsTheSameForAllRowsIsMadeOnce) {
    for (const int64_t rows : {2, 64}) {
        TestRegion t;
        const ir::TensorId x = t.input("x", {rows, 6}), w = t.weights("w", {6});
        const ir::TensorId y = t.tensor("y", {rows, 6});
        t.map("y", y, [&](const auto& i) {
            const ExprId root = t.build.make(Op::Sqrt, {t.read(w, {i[1]})});
            return t.make(Op::Div, t.read(x, i), root);
        });
        const bool pays = rows > 2;
        EXPECT_EQ(hoist_constants(t.graph), pays ? 1 : 0);
        EXPECT_EQ(t.graph.groups[0].once, pays);
        EXPECT_EQ(verify(t.region), "");
    }
}

}  // namespace
}  // namespace lemma::loop
