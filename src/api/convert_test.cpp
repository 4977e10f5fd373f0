// SPDX-License-Identifier: Apache-2.0
#include "api/convert.h"

#include <gtest/gtest.h>

#include <lemma/lemma.hpp>

namespace lemma::api {

namespace {

lemma_tensor view(const Tensor& tensor, std::vector<const char*>& texts) {
    return detail::view_of(tensor, texts);
}

Result<Tensor> back_of(const interpret::Array& array) {
    LEMMA_TRY(tensor::Tensor made, interpret::to_tensor(array));
    return detail::copy_of(LentTensor(std::move(made)).view());
}

// To the interpreter's form and back.
template <class T>
void expect_same(const std::vector<T>& values) {
    const Tensor tensor = Tensor::of<T>({static_cast<int64_t>(values.size())}, values);
    EXPECT_TRUE(tensor.is<T>());
    EXPECT_EQ(tensor.values<T>(), values);
    std::vector<const char*> texts;
    const auto array = internal_array("x", view(tensor, texts));
    ASSERT_TRUE(array) << array.error().message;
    const auto back = back_of(*array);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->type, tensor.type);
    EXPECT_EQ(back->shape, tensor.shape);
    EXPECT_EQ(back->values<T>(), values);
}

TEST(Convert, KeepsEveryType) {
    expect_same<float>({-1.5f, 0, 1e30f});
    expect_same<double>({-1.5, 0, 1e300});
    expect_same<int8_t>({-128, 0, 127});
    expect_same<int16_t>({-32768, 32767});
    expect_same<int32_t>({INT32_MIN, INT32_MAX});
    expect_same<int64_t>({INT64_MIN, INT64_MAX});
    expect_same<uint8_t>({0, 255});
    expect_same<uint16_t>({0, 65535});
    expect_same<uint32_t>({0, UINT32_MAX});
    expect_same<uint64_t>({0, UINT64_MAX});
    expect_same<bool>({true, false, true});
    expect_same<std::string>({"", "a", "ä"});
    expect_same<float>({});
}

TEST(Convert, KeepsBitsOfHalfPrecision) {
    for (const DataType type : {DataType::F16, DataType::BF16}) {
        Tensor tensor;
        tensor.type = type;
        tensor.shape = {2};
        tensor.bytes = {std::byte{0x00}, std::byte{0x3c}, std::byte{0x80}, std::byte{0xbf}};
        std::vector<const char*> texts;
        const auto array = internal_array("x", view(tensor, texts));
        ASSERT_TRUE(array);
        const auto back = back_of(*array);
        ASSERT_TRUE(back);
        EXPECT_EQ(back->bytes, tensor.bytes);
    }
}

TEST(Convert, StringsAreCounted) {
    Tensor tensor = Tensor::of<std::string>({2}, {"one"});
    std::vector<const char*> one, two;
    EXPECT_FALSE(internal_array("x", view(tensor, one)));
    tensor.strings.push_back("two");
    EXPECT_TRUE(internal_array("x", view(tensor, two)));
}

}  // namespace

}  // namespace lemma::api
