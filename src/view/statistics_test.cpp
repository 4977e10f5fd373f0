// SPDX-License-Identifier: Apache-2.0
#include "view/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lemma::view {
namespace {

tensor::Tensor counting(tensor::Shape shape, tensor::DType dtype = tensor::DType::F32) {
    auto tensor = tensor::Tensor::zeros(dtype, std::move(shape));
    for (int64_t i = 0; i < tensor->size(); ++i) tensor->set_real(i, static_cast<double>(i));
    return std::move(*tensor);
}

TEST(Statistics, DescribesValues) {
    const Json json = tensor_json(counting({4}), nullptr);
    EXPECT_EQ(json["min"], 0.0);
    EXPECT_EQ(json["max"], 3.0);
    EXPECT_EQ(json["mean"], 1.5);
    EXPECT_NEAR(json["std"].get<double>(), std::sqrt(1.25), 1e-12);
    EXPECT_EQ(json["zeros"], 0.25);
    EXPECT_EQ(json["histogram"]["counts"].size(), 64u);
    EXPECT_EQ(json["histogram"]["counts"][0], 1);
    EXPECT_EQ(json["histogram"]["counts"][63], 1);
    EXPECT_FALSE(json.contains("slice"));
}

TEST(Statistics, CountsWhatIsNotFinite) {
    tensor::Tensor tensor = counting({5});
    tensor.set_real(1, NAN);
    tensor.set_real(2, INFINITY);
    tensor.set_real(3, -INFINITY);
    const SliceWish wish;
    const Json json = tensor_json(tensor, &wish);
    EXPECT_EQ(json["nan"], 1);
    EXPECT_EQ(json["inf"], 2);
    EXPECT_EQ(json["max"], 4.0);
    EXPECT_EQ(json["slice"]["values"], Json({0.0, "nan", "inf", "-inf", 4.0}));
}

TEST(Statistics, HandlesEmptyAndScalarTensors) {
    const SliceWish wish;
    const Json empty = tensor_json(counting({0, 3}), &wish);
    EXPECT_EQ(empty["elements"], 0);
    EXPECT_FALSE(empty.contains("min"));
    EXPECT_FALSE(empty.contains("slice"));
    const Json scalar = tensor_json(counting({}), &wish);
    EXPECT_EQ(scalar["slice"]["shape"], Json({1, 1}));
    auto text = tensor::Tensor::zeros(tensor::DType::Str, {2});
    EXPECT_EQ(tensor_json(*text, &wish)["dtype"], "str");
}

TEST(Statistics, CutsTheSliceThatIsAskedFor) {
    const tensor::Tensor tensor = counting({2, 3, 4});
    SliceWish wish;
    wish.index = {1};
    Json slice = tensor_json(tensor, &wish)["slice"];
    EXPECT_EQ(slice["shape"], Json({3, 4}));
    EXPECT_EQ(slice["values"][0], 12.0);
    EXPECT_EQ(slice["of"], "[1, :, :]");
    wish = {.axis = 1, .index = {0, 0, 2}};
    slice = tensor_json(tensor, &wish)["slice"];
    EXPECT_EQ(slice["shape"], Json({2, 3}));
    EXPECT_EQ(slice["values"], Json({2.0, 6.0, 10.0, 14.0, 18.0, 22.0}));
    wish = {.axis = 99, .index = {1 << 30, 1 << 30}};  // out of range: the nearest
    EXPECT_EQ(tensor_json(tensor, &wish)["slice"]["values"][0], 12.0);
}

TEST(Statistics, LeavesOutRowsOfLargeSlices) {
    const SliceWish wish;
    const Json slice = tensor_json(counting({300, 1000}), &wish)["slice"];
    EXPECT_EQ(slice["shape"], Json({100, 125}));
    EXPECT_EQ(slice["values"].size(), 12500u);
    EXPECT_EQ(slice["values"][1], 8.0);
    EXPECT_EQ(slice["values"][125], 3000.0);
}

TEST(Statistics, KnowsImages) {
    EXPECT_EQ(tensor_json(counting({1, 3, 4, 4}), nullptr)["image"], true);
    EXPECT_EQ(tensor_json(counting({4, 4, 3}), nullptr)["image"], true);
    EXPECT_EQ(tensor_json(counting({2, 8, 4, 4}), nullptr)["image"], false);
    EXPECT_EQ(tensor_json(counting({5}), nullptr)["image"], false);
}

}  // namespace
}  // namespace lemma::view
