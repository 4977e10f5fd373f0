// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/npy_file.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// A header for the shape.
std::string header(const std::string& descr, const std::string& shape) {
    return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

std::string error(const std::string& bytes) {
    const auto tensor = decode_npy(bytes);
    return tensor ? "no error" : tensor.error().message;
}

TEST(Npy, ReadsBigEndianOfEveryWidth) {
    for (const DType dtype : {DType::F16, DType::F32, DType::F64, DType::I16, DType::I64}) {
        const Tensor tensor = numbers(dtype, {3});
        std::string bytes = *encode_npy(tensor);
        bytes[bytes.find('<')] = '>';
        const auto size = static_cast<size_t>(dtype_size(dtype));
        for (size_t at = bytes.size() - 3 * size; at < bytes.size(); at += size) {
            std::reverse(bytes.begin() + static_cast<int64_t>(at),
                         bytes.begin() + static_cast<int64_t>(at + size));
        }
        const auto read = decode_npy(bytes);
        ASSERT_TRUE(read) << read.error().message;
        for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(read->real(i), tensor.real(i));
    }
}

TEST(Npy, ReadsVersionsAndSpellingsOfTheHeader) {
    const std::string text = "{\"shape\":(2L,),\"descr\":\"=u1\",\"fortran_order\":False}";
    EXPECT_EQ(error(file(text, "12")), "no error");
    for (const char version : {'\2', '\3'}) {
        std::string bytes = file(text, "12");
        bytes[6] = version;
        bytes.insert(10, 2, '\0');
        EXPECT_EQ(error(bytes), "no error");
    }
    EXPECT_EQ(error(file(header("<f4", "()"), "1234")), "no error");
    EXPECT_EQ(error(file(header("b1", "(1,)"), "1")), "no error");
}

TEST(Npy, MakesBoolsZeroAndOne) {
    const auto bools = decode_npy(file(header("|b1", "(2,)"), std::string("\0\x07", 2)));
    ASSERT_TRUE(bools);
    EXPECT_EQ(bools->bytes()[0], std::byte{0});
    EXPECT_EQ(bools->bytes()[1], std::byte{1});
}

TEST(Npy, ReadsTextOfFixedWidth) {
    const auto bytes = decode_npy(file(header("|S3", "(3,)"), std::string("a\0\0abc\0\0\0", 9)));
    ASSERT_TRUE(bytes) << bytes.error().message;
    EXPECT_EQ(bytes->strings(), (std::vector<std::string>{"a", "abc", ""}));
    const auto wide = decode_npy(
        file(header("<U2", "(2,)"), std::string("\xE9\0\0\0\x02\xF6\x01\0z\0\0\0\0\0\0\0", 16)));
    ASSERT_TRUE(wide) << wide.error().message;
    EXPECT_EQ(wide->strings(), (std::vector<std::string>{"é\U0001F602", "z"}));
    const auto big = decode_npy(file(header(">U1", "(1,)"), std::string("\0\0\x20\xAC", 4)));
    ASSERT_TRUE(big);
    EXPECT_EQ(big->strings()[0], "€");
    EXPECT_EQ(error(file(header("<U1", "(1,)"), std::string("\0\xD8\0\0", 4))),
              "element [0] is not Unicode text");
    EXPECT_EQ(error(file(header("<U1", "()"), "\xFF\xFF\xFF\xFF")),
              "the element is not Unicode text");
}

TEST(Npy, ReadsBackText) {
    Tensor tensor = *Tensor::zeros(DType::Str, {2, 2});
    tensor.strings() = {"", "naïve", "\U0001F602", "plain text"};
    const auto bytes = encode_npy(tensor);
    ASSERT_TRUE(bytes);
    const auto read = decode_npy(*bytes);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->shape(), (Shape{2, 2}));
    EXPECT_EQ(read->strings(), tensor.strings());
    std::string columns = *bytes;
    columns.replace(columns.find("False"), 5, "True ");
    EXPECT_EQ(decode_npy(columns)->strings()[1], tensor.strings()[2]);
    tensor.strings()[3] = "\xFF";
    EXPECT_EQ(encode_npy(tensor).error().message, "element [1, 1] is not UTF-8 text");
}

TEST(Npy, WritesBf16AsF32) {
    const auto read = decode_npy(*encode_npy(numbers(DType::BF16, {3})));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->dtype(), DType::F32);
    EXPECT_EQ(read->real(2), 2);
}

TEST(Npy, RefusesLengthsThatDoNotAgree) {
    const std::string two = header("<f4", "(2,)");
    EXPECT_EQ(error(file(two, "1234567")), "it has 7 bytes of data, but f32 of shape [2] needs 8");
    EXPECT_EQ(error(file(two, "123456789")),
              "it has 9 bytes of data, but f32 of shape [2] needs 8");
    EXPECT_EQ(error(file(header("<U2", "(2,)"), "")),
              "it has 0 bytes of data, but str of shape [2] needs 16");
}

TEST(Npy, RefusesHugeClaimsWithoutMemory) {
    EXPECT_EQ(error(file(header("|u1", "(4611686018427387904,)"), "1234")),
              "it has 4 bytes of data, but u8 of shape [4611686018427387904] needs "
              "4611686018427387904");
    EXPECT_EQ(error(file(header("<f4", "(4294967296, 4294967296, 8)"), "")),
              "it has 0 bytes of data, but f32 of shape [4294967296, 4294967296, 8] is too large");
    EXPECT_EQ(error(file(header("<U9223372036854775807", "(1,)"), "")),
              "its dtype `<U9223372036854775807` is not supported");
    EXPECT_EQ(error(file(header("<U0", "(4294967296,)"), "")), "its dtype `<U0` is not supported");
    std::string ones;
    for (int i = 0; i < 65; ++i) ones += "1,";
    EXPECT_EQ(error(file(header("|u1", "(" + ones + ")"), "1")), "it has a rank of more than 64");
    EXPECT_EQ(encode_npy(*Tensor::zeros(DType::F32, Shape(65, 1))).error().message,
              "a rank of more than 64 cannot be stored in an .npy file");
}

TEST(Npy, RefusesOtherFilesAndVersions) {
    EXPECT_EQ(error(""), "it does not begin as an .npy file");
    EXPECT_EQ(error("PK\3\4 something else"), "it does not begin as an .npy file");
    EXPECT_EQ(error("\x93NUMPY\1"), "its header is cut off");
    std::string bytes = file(header("|u1", "(1,)"), "1");
    bytes[6] = '\4';
    EXPECT_EQ(error(bytes), "it has version 4 of the format, expected 1 to 3");
    bytes[6] = '\2';
    EXPECT_EQ(error(bytes), "its header is cut off");
    EXPECT_EQ(read_npy("no/such/file.npy").error().message,
              "cannot read `no/such/file.npy`: there is no such file or folder");
}

TEST(Npy, RefusesOtherTypes) {
    EXPECT_EQ(error(file(header("<c8", "(1,)"), "12345678")), "its dtype `<c8` is not supported");
    EXPECT_EQ(error(file(header("|V2", "(1,)"), "12")), "its dtype `|V2` is not supported");
    EXPECT_EQ(error(file(header("<M8[ns]", "(1,)"), "")), "its dtype `<M8[ns]` is not supported");
    EXPECT_EQ(error(file(header("", "(1,)"), "")), "its dtype `` is not supported");
    EXPECT_EQ(error(file(header("|O", "(1,)"), "")),
              "its elements are Python objects (dtype `O`), which only Python can read");
    EXPECT_EQ(error(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "")),
              "its elements have several fields, which is not supported");
}

TEST(Npy, RefusesMalformedHeaders) {
    EXPECT_EQ(error(file("    ", "")), "its header is malformed at ``");
    EXPECT_EQ(error(file("[]", "")), "its header is malformed at `[]`");
    EXPECT_EQ(error(file("{'descr': '<f4', 'shape': (2,), }", "12345678")),
              "its header has no `fortran_order`");
    EXPECT_EQ(error(file("{'descr': '<f4', 'descr': '<f4'}", "")), "its header has `descr` twice");
    EXPECT_EQ(error(file("{'more': 1}", "")), "its header has the unknown key `more`");
    EXPECT_EQ(error(file(header("<f4", "(-2,)"), "")), "its header is malformed at `-2,), }<0a>`");
    EXPECT_EQ(error(file(header("<f4", "(99999999999999999999,)"), "")),
              "its header is malformed at `99999999999999999999,), }<0a>`");
    EXPECT_EQ(error(file(header("<f4", "(2 3)"), "")), "its header is malformed at `3), }<0a>`");
    EXPECT_EQ(error(file(header("<f4", "2"), "")), "its header is malformed at `2, }<0a>`");
    EXPECT_EQ(error(file("{'descr': '<f4", "")), "its header is malformed at `'<f4`");
    EXPECT_EQ(error(file("{'fortran_order': 1}", "")), "its header is malformed at `1}`");
    EXPECT_EQ(error(file(header("<f4", "()") + "more", "1234")),
              "its header is malformed at `more`");
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
