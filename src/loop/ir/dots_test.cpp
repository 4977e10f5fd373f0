// SPDX-License-Identifier: Apache-2.0
#include "loop/ir/dots.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "loop/ir/bounds.h"

namespace lemma::loop {
namespace {

uint32_t four(int a, int b, int c, int d) {
    const auto byte = [](int value) { return static_cast<uint32_t>(value) & 0xFF; };
    return byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24;
}

TEST(DotBytes, HasSignsOfEachOperand) {
    const int64_t a = four(255, 1, 2, 128);
    const int64_t b = four(127, -1, 3, -128);
    EXPECT_EQ(dot_bytes(7, a, b, 0), 7 + 255 * 127 + 255 + 6 + 128 * 128);
    EXPECT_EQ(dot_bytes(7, a, b, 1), 7 - 127 + 255 + 6 - 128 * 128);
    EXPECT_EQ(dot_bytes(7, a, b, 2), 7 + 255 * 127 - 1 + 6 - 128 * 128);
    EXPECT_EQ(dot_bytes(7, a, b, 3), 7 - 127 - 1 + 6 + 128 * 128);
}

TEST(DotBytes, DoesNotSaturate) {
    const int64_t most = four(255, 255, 255, 255);
    EXPECT_EQ(dot_bytes(0, most, four(127, 127, 127, 127), 2), 4 * 255 * 127);
    EXPECT_EQ(dot_bytes(INT32_MAX, four(1, 0, 0, 0), four(1, 0, 0, 0), 0), INT32_MIN);
}

uint32_t pair(float first, float second) {
    return std::bit_cast<uint32_t>(first) >> 16 | (std::bit_cast<uint32_t>(second) & 0xFFFF0000U);
}

TEST(DotBf16, AddsTheSecondProductFirst) {
    EXPECT_EQ(dot_bf16(1, pair(2, 3), pair(5, 7)), 32);
    // 2^24 + 1 + 1: each 1 is lost if it comes behind the large number.
    EXPECT_EQ(dot_bf16(1, pair(0x1p24f, 1), pair(1, 1)), 0x1p24f + 2);
    EXPECT_EQ(dot_bf16(1, pair(1, 0x1p24f), pair(1, 1)), 0x1p24f);
    EXPECT_TRUE(std::isnan(dot_bf16(0, pair(HUGE_VALF, 1), pair(0, 1))));
}

TEST(DotBf16, CountsSubnormalNumbersAsZero) {
    EXPECT_EQ(dot_bf16(0x1p-130f, pair(0, 0), pair(0, 0)), 0);
    EXPECT_EQ(dot_bf16(0, pair(0x1p-130f, 0), pair(0x1p100f, 0)), 0);
    EXPECT_EQ(dot_bf16(0, pair(0x1p-70f, 0), pair(0x1p-70f, 0)), 0);
    EXPECT_EQ(dot_bf16(0, pair(0x1p-63f, 0), pair(0x1p-63f, 0)), 0x1p-126f);
}

TEST(FirstTerm, IsTheNearestBf16) {
    EXPECT_EQ(first_term(0.0f), 0.0f);
    EXPECT_EQ(first_term(-1.5f), -1.5f);
    EXPECT_EQ(first_term(0x1.01p0f), 0x1.02p0f);  // halves away from zero
    EXPECT_EQ(first_term(-0x1.01p0f), -0x1.02p0f);
    EXPECT_EQ(first_term(0x1.00FFFEp0f), 1.0f);
    EXPECT_EQ(first_term(0x1.FFp3f), 16.0f);
    EXPECT_EQ(first_term(0x1.FEp127f), 0x1.FEp127f);
    EXPECT_EQ(first_term(0x1.FEFFFEp127f), 0x1.FEp127f);
}

// The rest then has the value of the float.
TEST(FirstTerm, IsFinite) {
    EXPECT_EQ(first_term(0x1.FFp127f), 1.0f);
    EXPECT_EQ(first_term(-0x1.FFFFFEp127f), -1.0f);
    EXPECT_EQ(first_term(INFINITY), 1.0f);
    EXPECT_EQ(first_term(-INFINITY), -1.0f);
    EXPECT_EQ(std::fabs(first_term(NAN)), 1.0f);
    EXPECT_EQ(first_term(std::bit_cast<float>(0x7FFFFFFFU)), 1.0f);
    EXPECT_EQ(first_term(std::bit_cast<float>(0xFFFFFFFFU)), -1.0f);
}

TEST(MultiplyTiles, AddsTheProductOfBytes) {
    TileData a, b, total;
    for (int row = 0; row < 2; ++row) {
        for (int k = 0; k < 8; ++k) a.row(row)[k] = std::byte(static_cast<uint8_t>(row * 8 + k));
    }
    for (int k = 0; k < 8; ++k) b.row(k / 4)[4 + k % 4] = std::byte(0xFF);  // column 1 is -1
    multiply_tiles({TileProducts::UnsignedSigned, 2, 2, 2}, a, b, total);
    const auto at = [&](int row, int column) {
        int32_t value = 0;
        std::memcpy(&value, total.row(row) + column * 4, sizeof value);
        return value;
    };
    EXPECT_EQ(at(0, 0), 0);
    EXPECT_EQ(at(0, 1), -28);
    EXPECT_EQ(at(1, 1), -92);
}

TEST(MultiplyTiles, AddsTheProductOfBf16WithoutSubnormals) {
    const auto pair = [](float even, float odd) {
        return std::bit_cast<uint32_t>(even) >> 16 | (std::bit_cast<uint32_t>(odd) & 0xFFFF0000U);
    };
    TileData a, b, total;
    const uint32_t x[] = {pair(2, 3), pair(1e-40f, 4)};
    const uint32_t y[] = {pair(0.5f, -1), pair(1e38f, 0.25f)};
    std::memcpy(a.row(0), x, sizeof x);
    for (int k = 0; k < 2; ++k) std::memcpy(b.row(k), &y[k], 4);
    multiply_tiles({TileProducts::Bf16, 1, 1, 2}, a, b, total);
    float sum = 0;
    std::memcpy(&sum, total.row(0), sizeof sum);
    EXPECT_EQ(sum, 1.0f - 3.0f + 1.0f);
}

TEST(Bounds, AClampedRealFitsAnInt) {
    Function function;
    Builder build(function);
    const BufferId buffer = build.buffer("x", tensor::DType::F32, false);
    const ExprId x = build.load(buffer, {}, 16);
    const ExprId zero = build.real(0, Kind::F32);
    const ExprId most = build.real(255, Kind::F32);
    const ExprId below = build.make(Op::Min, {build.make(Op::Rint, {x}), most});
    EXPECT_FALSE(fits_32_bits(function, x));
    EXPECT_FALSE(fits_32_bits(function, below));
    EXPECT_TRUE(fits_32_bits(function, build.make(Op::Max, {below, zero})));
    const ExprId huge = build.real(1e30, Kind::F32);
    EXPECT_FALSE(fits_32_bits(function, build.make(Op::Max, {below, huge})));
}

}  // namespace
}  // namespace lemma::loop
