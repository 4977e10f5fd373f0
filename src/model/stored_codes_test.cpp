// SPDX-License-Identifier: Apache-2.0
#include "model/stored_codes.h"

#include <gtest/gtest.h>

namespace lemma::model {

namespace {

tensor::Tensor codes(const tensor::Shape& shape, const std::vector<int64_t>& values) {
    tensor::Tensor tensor = *tensor::Tensor::zeros(tensor::DType::I16, shape);
    for (size_t i = 0; i < values.size(); ++i)
        tensor.set_integer(static_cast<int64_t>(i), values[i]);
    return tensor;
}

std::vector<double> reals(const Result<tensor::Tensor>& tensor) {
    std::vector<double> values;
    for (int64_t i = 0; tensor && i < tensor->size(); ++i) values.push_back(tensor->real(i));
    return values;
}

ir::Tensor quantised(std::string op, std::vector<ir::Attribute> attributes) {
    ir::Tensor tensor;
    tensor.quantizer = ir::Quantizer{std::move(op), std::move(attributes)};
    return tensor;
}

ir::Value pack(std::vector<ir::Scalar> items) { return ir::Pack{.items = std::move(items)}; }

TEST(StoredCodes, AreScaledAroundTheZeroPoint) {
    const ir::Tensor variable = quantised("quant.zero_point_linear_quantize",
                                          {{"zero_point", ir::Scalar(int64_t{10})},
                                           {"scale", ir::Scalar(0.5)},
                                           {"channel_axis", ir::Scalar(int64_t{0})}});
    EXPECT_EQ(reals(decode_codes(variable, codes({3}, {10, 12, 7}))),
              (std::vector<double>{0, 1, -1.5}));
}

TEST(StoredCodes, HaveAScalePerChannel) {
    const ir::Tensor variable =
        quantised("zero_point_linear_quantize",
                  {{"zero_point", pack({int64_t{0}, int64_t{1}})}, {"scale", pack({1.0, 0.25})}});
    EXPECT_EQ(reals(decode_codes(variable, codes({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}))),
              (std::vector<double>{1, 2, 0.5, 0.75, 5, 6, 1.5, 1.75}));
}

// Unsigned 8-bit codes go from 0, the least value, to 255, the largest; signed codes begin at -128.
TEST(StoredCodes, SpanARange) {
    std::vector<ir::Attribute> attributes = {{"min", ir::Scalar(-1.0)},
                                             {"max", ir::Scalar(4.1)},
                                             {"bits", ir::Scalar(int64_t{8})},
                                             {"signed", ir::Scalar(false)},
                                             {"channel_axis", ir::Scalar(int64_t{0})}};
    const auto unsigned_values = reals(decode_codes(
        quantised("quant.min_max_linear_quantize", attributes), codes({3}, {0, 50, 255})));
    ASSERT_EQ(unsigned_values.size(), 3u);
    EXPECT_NEAR(unsigned_values[0], -1, 1e-6);
    EXPECT_NEAR(unsigned_values[1], 0, 1e-6);
    EXPECT_NEAR(unsigned_values[2], 4.1, 1e-6);
    attributes[3].value = ir::Scalar(true);
    const auto signed_values = reals(decode_codes(
        quantised("quant.min_max_linear_quantize", attributes), codes({2}, {-128, 127})));
    ASSERT_EQ(signed_values.size(), 2u);
    EXPECT_NEAR(signed_values[0], -1, 1e-6);
    EXPECT_NEAR(signed_values[1], 4.1, 1e-6);
}

TEST(StoredCodes, NeedAQuantiser) {
    EXPECT_EQ(decode_codes(ir::Tensor{}, codes({1}, {0})).error().message,
              "it holds quantised items, and nothing (`@quantize`, graph.quant) says what they "
              "stand for");
    EXPECT_EQ(decode_codes(quantised("grid", {}), codes({1}, {0})).error().message,
              "it holds quantised items, and what `grid` makes of them is not known");
}

}  // namespace

}  // namespace lemma::model
