#include "tensor/npy_file.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lemma::tensor {
namespace {

Tensor numbers(DType dtype, Shape shape) {
    Tensor tensor = *Tensor::zeros(dtype, std::move(shape));
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, i);
    return tensor;
}

TEST(Npy, ReadsBackWhatItWrites) {
    for (const DType dtype : {DType::F16,
                              DType::F32,
                              DType::F64,
                              DType::I8,
                              DType::I16,
                              DType::I32,
                              DType::I64,
                              DType::U8,
                              DType::U16,
                              DType::U32,
                              DType::U64,
                              DType::Bool}) {
        for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{2, 0, 4}}) {
            const Tensor tensor = numbers(dtype, shape);
            const auto bytes = encode_npy(tensor);
            ASSERT_TRUE(bytes);
            EXPECT_EQ(bytes->size() % 64, tensor.bytes().size() % 64);
            const auto read = decode_npy(*bytes);
            ASSERT_TRUE(read) << read.error().message;
            EXPECT_EQ(read->dtype(), dtype);
            EXPECT_EQ(read->shape(), shape);
            for (int64_t i = 0; i < tensor.size(); ++i) EXPECT_EQ(read->real(i), tensor.real(i));
        }
    }
}

std::string file(const std::string& header, const std::string& data) {
    std::string bytes = "\x93NUMPY";
    bytes += '\x01';
    bytes += '\0';
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    return bytes + header + data;
}

TEST(Npy, ReadsColumnMajorAndBigEndian) {
    const auto columns = decode_npy(
        file("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n", "\1\4\2\5\3\6"));
    ASSERT_TRUE(columns) << columns.error().message;
    for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(columns->integer(i), i + 1);
    const auto big = decode_npy(file("{'descr': '>i2', 'fortran_order': False, 'shape': (1,), }\n",
                                     std::string("\1\2", 2)));
    ASSERT_TRUE(big);
    EXPECT_EQ(big->integer(0), 258);
}

TEST(Npy, RefusesWhatIsNotOne) {
    const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
    EXPECT_FALSE(decode_npy(""));
    EXPECT_FALSE(decode_npy("PK\3\4 something else"));
    EXPECT_FALSE(decode_npy(file(good, "1234567")));
    EXPECT_FALSE(decode_npy(file(good, "123456789")));
    EXPECT_FALSE(
        decode_npy(file("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "12345678")));
    EXPECT_FALSE(decode_npy(file("{'descr': '<f4', 'shape': (2,), }", "12345678")));
    EXPECT_FALSE(
        decode_npy(file("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "")));
    // 2^62 elements cost no memory
    EXPECT_FALSE(decode_npy(file(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }", "1234")));
    EXPECT_FALSE(decode_npy(file(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 8), }", "")));
    EXPECT_FALSE(encode_npy(*Tensor::zeros(DType::Str, {1})));
    EXPECT_FALSE(read_npy("no/such/file.npy"));
}

TEST(Half, RoundsToNearestEven) {
    EXPECT_EQ(to_f16(1.0), 0x3c00);
    EXPECT_EQ(to_f16(-2.0), 0xc000);
    EXPECT_EQ(to_f16(65504.0), 0x7bff);
    EXPECT_EQ(to_f16(65520.0), 0x7c00);
    EXPECT_EQ(to_f16(1.0 + std::ldexp(1.0, -11)), 0x3c00);  // a tie goes to even
    EXPECT_EQ(to_f16(1.0 + 3 * std::ldexp(1.0, -11)), 0x3c02);
    EXPECT_EQ(to_f16(std::ldexp(1.0, -24)), 0x0001);  // the smallest subnormal
    EXPECT_EQ(to_f16(std::ldexp(1.0, -25)), 0x0000);
    EXPECT_TRUE(std::isnan(from_f16(to_f16(std::nan("")))));
    EXPECT_EQ(to_bf16(1.0), 0x3f80);
    EXPECT_EQ(to_bf16(1.0 + std::ldexp(1.0, -8)), 0x3f80);
    EXPECT_EQ(to_bf16(3.4e38), 0x7f80);
}

TEST(Half, ReadsBackEveryBitPattern) {
    for (uint32_t bits = 0; bits < 65536; ++bits) {
        const auto half = static_cast<uint16_t>(bits);
        if (!std::isnan(from_f16(half))) {
            EXPECT_EQ(to_f16(from_f16(half)), half);
        }
        if (!std::isnan(from_bf16(half))) {
            EXPECT_EQ(to_bf16(from_bf16(half)), half);
        }
    }
}

TEST(Tensor, RefusesShapesThatDoNotFit) {
    EXPECT_FALSE(Tensor::zeros(DType::F32, {int64_t{1} << 40}));
    EXPECT_FALSE(Tensor::zeros(DType::F32, {-1}));
    EXPECT_TRUE(Tensor::zeros(DType::F32, {int64_t{1} << 62, 0}));
}

}  // namespace
}  // namespace lemma::tensor
