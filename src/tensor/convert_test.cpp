// SPDX-License-Identifier: Apache-2.0
#include "tensor/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lemma::tensor {

namespace {

Tensor reals(DType dtype, const std::vector<double>& values) {
    Tensor tensor = Tensor::zeros(dtype, {static_cast<int64_t>(values.size())}).value();
    for (size_t i = 0; i < values.size(); ++i) tensor.set_real(static_cast<int64_t>(i), values[i]);
    return tensor;
}

Tensor integers(DType dtype, const std::vector<int64_t>& values) {
    Tensor tensor = Tensor::zeros(dtype, {static_cast<int64_t>(values.size())}).value();
    for (size_t i = 0; i < values.size(); ++i) {
        tensor.set_integer(static_cast<int64_t>(i), values[i]);
    }
    return tensor;
}

std::string error(const Tensor& tensor, DType dtype, KindChange change = KindChange::Exact) {
    const auto result = convert(tensor, dtype, change);
    return result ? "no error" : result.error().message;
}

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Convert, RoundsReals) {
    for (const DType from : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
        for (const DType to : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
            const Tensor source = reals(from, {0.1, -3, 70000, std::nan("")});
            const auto result = convert(source, to);
            ASSERT_TRUE(result);
            EXPECT_EQ(result->dtype(), to);
            for (int64_t i = 0; i < 3; ++i) {
                EXPECT_EQ(result->real(i), round_to(to, source.real(i)));
            }
            EXPECT_TRUE(std::isnan(result->real(3)));
        }
    }
}

TEST(Convert, KeepsIntegersThatFit) {
    const std::vector<DType> all = {DType::I8,
                                    DType::I16,
                                    DType::I32,
                                    DType::I64,
                                    DType::U8,
                                    DType::U16,
                                    DType::U32,
                                    DType::U64};
    for (const DType from : all) {
        for (const DType to : all) {
            const auto result = convert(integers(from, {0, 1, 127}), to);
            ASSERT_TRUE(result);
            EXPECT_EQ(result->dtype(), to);
            EXPECT_EQ(result->integer(2), 127);
        }
    }
}

TEST(Convert, NamesTheIntegerThatDoesNotFit) {
    Tensor table = Tensor::zeros(DType::I32, {2, 3}).value();
    table.set_integer(5, 300);
    EXPECT_EQ(error(table, DType::U8), "element [1, 2] is 300, which u8 cannot hold");
    EXPECT_EQ(error(integers(DType::I8, {-1}), DType::U64),
              "element [0] is -1, which u64 cannot hold");
    EXPECT_EQ(error(integers(DType::U64, {kMin}), DType::I64),
              "element [0] is 9223372036854775808, which i64 cannot hold");
}

TEST(Convert, ChangesKindsOnlyWhenAsked) {
    EXPECT_EQ(error(reals(DType::F32, {1}), DType::I32, KindChange::Refuse),
              "a tensor of f32 cannot become one of i32");
    EXPECT_EQ(error(integers(DType::I32, {1}), DType::F32, KindChange::Refuse),
              "a tensor of i32 cannot become one of f32");
    EXPECT_EQ(error(integers(DType::Bool, {1}), DType::U8, KindChange::Refuse),
              "a tensor of bool cannot become one of u8");
    EXPECT_EQ(error(Tensor::zeros(DType::Str, {1}).value(), DType::U8),
              "a tensor of str cannot become one of u8");
}

TEST(Convert, ChangesKindsExactly) {
    EXPECT_EQ(convert(reals(DType::F64, {-128, 127}), DType::I8, KindChange::Exact)->integer(0),
              -128);
    EXPECT_EQ(error(reals(DType::F64, {1.5}), DType::I8),
              "element [0] is 1.5, which i8 cannot hold");
    EXPECT_EQ(error(reals(DType::F64, {128}), DType::I8),
              "element [0] is 128, which i8 cannot hold");
    EXPECT_EQ(error(reals(DType::F64, {-1}), DType::U64),
              "element [0] is -1, which u64 cannot hold");
    EXPECT_EQ(error(reals(DType::F32, {std::nan("")}), DType::I8),
              "element [0] is nan, which i8 cannot hold");
    EXPECT_EQ(error(reals(DType::F32, {HUGE_VAL}), DType::I64),
              "element [0] is inf, which i64 cannot hold");
    EXPECT_EQ(error(reals(DType::F64, {0x1p63}), DType::I64),
              "element [0] is 9.223372036854776e+18, which i64 cannot hold");
    EXPECT_EQ(error(reals(DType::F64, {0x1p63, -0x1p63}), DType::U64),
              "element [1] is -9.223372036854776e+18, which u64 cannot hold");

    EXPECT_EQ(error(integers(DType::I64, {kMin, 1 << 24}), DType::F32), "no error");
    EXPECT_EQ(error(integers(DType::I64, {kMax}), DType::F64),
              "element [0] is 9223372036854775807, which f64 cannot hold");
    EXPECT_EQ(error(integers(DType::I32, {(1 << 24) + 1}), DType::F32),
              "element [0] is 16777217, which f32 cannot hold");
    EXPECT_EQ(error(integers(DType::I32, {70000}), DType::F16),
              "element [0] is 70000, which f16 cannot hold");
}

TEST(Convert, TakesBoolsAsZeroAndOne) {
    const auto numbers = convert(integers(DType::Bool, {1, 0}), DType::F16, KindChange::Exact);
    ASSERT_TRUE(numbers);
    EXPECT_EQ(numbers->real(0), 1);
    EXPECT_EQ(convert(*numbers, DType::Bool, KindChange::Exact)->integer(0), 1);
    EXPECT_EQ(error(integers(DType::U8, {1, 2}), DType::Bool),
              "element [1] is 2, which bool cannot hold");
}

}  // namespace

}  // namespace lemma::tensor
