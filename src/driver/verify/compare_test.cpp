// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "driver/verify/case.h"

namespace lemma::driver {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool agree(double got, double want) {
    interpret::Array a, b;
    a.dtype = b.dtype = tensor::DType::F32;
    a.shape = b.shape = {1};
    a.reals = {got};
    b.reals = {want};
    return !compare("y", a, b, {.relative = 1e-3, .absolute = 1e-5});
}

TEST(Compare, NumbersAgreeWithinTheTolerance) {
    EXPECT_TRUE(agree(1.0005, 1));
    EXPECT_FALSE(agree(1.01, 1));
}

TEST(Compare, InfinitiesAndNansAgreeWithThemselvesAlone) {
    EXPECT_TRUE(agree(kInfinity, kInfinity));
    EXPECT_TRUE(agree(kNan, kNan));
    EXPECT_FALSE(agree(0, kInfinity));
    EXPECT_FALSE(agree(-kInfinity, kInfinity));
    EXPECT_FALSE(agree(kInfinity, 0));
    EXPECT_FALSE(agree(kNan, kInfinity));
    EXPECT_FALSE(agree(kInfinity, kNan));
    EXPECT_FALSE(agree(0, kNan));
    EXPECT_FALSE(agree(kNan, 0));
}

}  // namespace
}  // namespace lemma::driver
