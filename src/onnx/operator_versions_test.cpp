// SPDX-License-Identifier: Apache-2.0
#include "onnx/operator_versions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "onnx/operators.h"
#include "onnx/validate.h"

namespace lemma::onnx {

namespace {

TEST(OperatorVersions, AreThoseThatTheSetSelects) {
    EXPECT_EQ(operator_version("Conv", 17), 11);
    EXPECT_EQ(operator_version("Conv", 22), 22);
    EXPECT_EQ(operator_version("Conv", 1), 1);
    EXPECT_EQ(operator_version("Reshape", 13), 13);
    EXPECT_EQ(operator_version("Where", 8), std::nullopt);  // older than the operator
    EXPECT_EQ(operator_version("Conv", 0), std::nullopt);
    EXPECT_EQ(operator_version("NoSuchOperator", 13), std::nullopt);
}

TEST(OperatorVersions, CoverTheProfile) {
    for (const Operator& op : onnx_operators()) {
        if (op.standing == Standing::Outside) continue;
        EXPECT_EQ(operator_version(op.name, op.since), op.since) << op.name;
        EXPECT_TRUE(operator_version(op.name, kNewestOpset).has_value()) << op.name;
    }
}

TEST(OperatorVersions, AreSorted) {
    EXPECT_TRUE(std::ranges::is_sorted(operator_versions(), {}, &OperatorVersions::op));
    for (const OperatorVersions& each : operator_versions()) {
        EXPECT_TRUE(std::ranges::is_sorted(each.versions)) << each.op;
        EXPECT_LE(each.versions.back(), kNewestOpset) << each.op;
        EXPECT_NE(find_operator(each.op), nullptr) << each.op;
    }
}

}  // namespace

}  // namespace lemma::onnx
