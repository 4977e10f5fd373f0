// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "onnx/import.h"
#include "onnx/test_model.h"
#include "tensor/files/mapped_file.h"

namespace lemma::onnx {
namespace {

using namespace test;

TensorData tensor_of(const std::string& bytes) {
    TensorData data;
    data.proto = tensor::read_tensor_proto(tensor::WireReader(bytes)).value();
    return data;
}

std::string packed(int64_t type, int64_t count, const std::string& bytes) {
    WireWriter message;
    message.put_int(1, count);
    message.put_int(2, type);
    message.put_bytes(9, bytes);
    return message.take();
}

std::vector<int64_t> elements(const std::string& bytes) {
    const auto decoded = decode_tensor(tensor_of(bytes), {});
    EXPECT_TRUE(decoded) << decoded.error().message;
    std::vector<int64_t> values;
    for (int64_t i = 0; decoded && i < decoded->size(); ++i) values.push_back(decoded->integer(i));
    return values;
}

TEST(DecodeTensor, UnpacksIntegersOfFourBits) {
    constexpr int64_t kUint4 = 21;
    constexpr int64_t kInt4 = 22;
    EXPECT_EQ(elements(packed(kInt4, 3, "\xE1\x07")), (std::vector<int64_t>{1, -2, 7}));
    EXPECT_EQ(elements(packed(kUint4, 3, "\xE1\x07")), (std::vector<int64_t>{1, 14, 7}));
    WireWriter numbers;  // each number is a byte
    numbers.put_int(1, 3);
    numbers.put_int(2, kInt4);
    const std::vector<int64_t> bytes = {0xE1, 0x07};
    numbers.put_ints(5, bytes);
    EXPECT_EQ(elements(numbers.take()), (std::vector<int64_t>{1, -2, 7}));
}

TEST(DecodeTensor, UnpacksIntegersOfTwoBits) {
    constexpr int64_t kInt2 = 26;
    EXPECT_EQ(elements(packed(kInt2, 4, "\x39")), (std::vector<int64_t>{1, -2, -1, 0}));
}

TEST(DecodeTensor, CountsPackedBytes) {
    constexpr int64_t kInt4 = 22;
    const std::string bytes = packed(kInt4, 3, "\xE1");
    const auto decoded = decode_tensor(tensor_of(bytes), {});
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().message, "it has 1 bytes of data, but INT4 of shape [3] needs 2");
}

TEST(DecodeTensor, RefusesTypesThatMemoryDoesNotHave) {
    constexpr int64_t kFloat8 = 17;
    EXPECT_FALSE(memory_type(kFloat8));
    const std::string bytes = packed(kFloat8, 1, "\x01");
    const auto decoded = decode_tensor(tensor_of(bytes), {});
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().message,
              "its elements have the type FLOAT8E4M3FN, which is not supported");
}

TEST(DecodeTensor, AsksForDataInOtherFiles) {
    const std::string bytes = external_tensor("w", {2}, {.location = "w.bin", .offset = "4"});
    const TensorData data = tensor_of(bytes);
    EXPECT_FALSE(decode_tensor(data, {}));
    const auto decoded =
        decode_tensor(data, [](const tensor::ExternalData& place) -> Result<tensor::SharedBytes> {
            EXPECT_EQ(place.location, "w.bin");
            EXPECT_EQ(place.offset, 4);
            EXPECT_FALSE(place.length);
            return tensor::share(std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8));
        });
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->real(0), 1);
    EXPECT_EQ(decoded->real(1), 2);
}

}  // namespace
}  // namespace lemma::onnx
