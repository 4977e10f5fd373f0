// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/nnef_data.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "tensor/files/file_io.h"

namespace lemma::tensor {

namespace {

namespace fs = std::filesystem;

NnefHeader header_for(Shape shape, ItemType type, uint32_t bits) {
    NnefHeader header;
    header.shape = std::move(shape);
    header.type = type;
    header.bits = bits;
    header.volume = volume(header.shape).value();
    header.data_bytes = (header.volume * bits + 7) / 8;
    return header;
}

std::vector<int64_t> integers(const Tensor& tensor) {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < tensor.size(); ++i) values.push_back(tensor.integer(i));
    return values;
}

Tensor integer_tensor(DType dtype, Shape shape, const std::vector<int64_t>& values) {
    Tensor tensor = Tensor::zeros(dtype, std::move(shape)).value();
    for (size_t i = 0; i < values.size(); ++i) {
        tensor.set_integer(static_cast<int64_t>(i), values[i]);
    }
    return tensor;
}

bool same(const Tensor& a, const Tensor& b) {
    return a.dtype() == b.dtype() && a.shape() == b.shape() &&
           std::ranges::equal(a.bytes(), b.bytes());
}

// ---- Bytes by hand ------------------------------------------------------------------------------

TEST(NnefData, PacksItemsWithTheHighestBitFirst) {
    // 001 010 011 | 100 101 110 | 111, then zeros: 00101001 11001011 10111000
    const NnefHeader unsigned_header = header_for({7}, ItemType::Uint, 3);
    const std::string data = "\x29\xCB\xB8";
    const auto read = decode_nnef_data(unsigned_header, data);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->dtype(), DType::U8);
    EXPECT_EQ(integers(*read), (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(encode_nnef_data(unsigned_header, *read).value(), data);

    const auto negative = decode_nnef_data(header_for({7}, ItemType::Int, 3), data);
    ASSERT_TRUE(negative);
    EXPECT_EQ(negative->dtype(), DType::I8);
    EXPECT_EQ(integers(*negative), (std::vector<int64_t>{1, 2, 3, -4, -3, -2, -1}));
}

TEST(NnefData, PacksItemsAcrossBytes) {
    // 0xABC, 0x123 as 12 bits.
    const NnefHeader header = header_for({2}, ItemType::Uint, 12);
    const auto read = decode_nnef_data(header, "\xAB\xC1\x23");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->dtype(), DType::U16);
    EXPECT_EQ(integers(*read), (std::vector<int64_t>{0xABC, 0x123}));
}

TEST(NnefData, TakesItemsOfWholeBytesAsLittleEndian) {
    EXPECT_EQ(
        integers(decode_nnef_data(header_for({2}, ItemType::Uint, 16), "\x01\x02\x03\x04").value()),
        (std::vector<int64_t>{0x0201, 0x0403}));
    EXPECT_EQ(integers(decode_nnef_data(header_for({2}, ItemType::Int, 24),
                                        std::string("\xFE\xFF\xFF\x00\x00\x01", 6))
                           .value()),
              (std::vector<int64_t>{-2, 0x010000}));
}

TEST(NnefData, ReadsBoolsOfOneAndOfEightBits) {
    const auto bits = decode_nnef_data(header_for({10}, ItemType::Bool, 1), "\x41\xC0");
    ASSERT_TRUE(bits);
    EXPECT_EQ(bits->dtype(), DType::Bool);
    EXPECT_EQ(integers(*bits), (std::vector<int64_t>{0, 1, 0, 0, 0, 0, 0, 1, 1, 1}));
    const auto bytes =
        decode_nnef_data(header_for({4}, ItemType::Bool, 8), std::string("\0\1\2\xFF", 4));
    ASSERT_TRUE(bytes);
    EXPECT_EQ(integers(*bytes), (std::vector<int64_t>{0, 1, 1, 1}));
    EXPECT_EQ(bytes->bytes()[2], std::byte{1});
}

TEST(NnefData, KeepsQuantisedItemsAsCodes) {
    const auto codes = decode_nnef_data(header_for({4}, ItemType::QuantUint, 4), "\x0F\x7A");
    ASSERT_TRUE(codes);
    EXPECT_EQ(codes->dtype(), DType::U8);
    EXPECT_EQ(integers(*codes), (std::vector<int64_t>{0, 15, 7, 10}));
    const auto with_sign = decode_nnef_data(header_for({2}, ItemType::QuantInt, 8), "\x80\x7F");
    ASSERT_TRUE(with_sign);
    EXPECT_EQ(with_sign->dtype(), DType::I8);
    EXPECT_EQ(integers(*with_sign), (std::vector<int64_t>{-128, 127}));
}

// ---- Deprecated ranges --------------------------------------------------------------------------

TEST(NnefData, AppliesStoredLinearRanges) {
    NnefHeader header = header_for({4}, ItemType::QuantUint, 2);
    header.range = StoredRange{.min = -1.5f, .max = 1.5f};
    const auto read = decode_nnef_data(header, "\x1B");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->dtype(), DType::F32);
    for (int64_t i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(read->real(i), -1.5 + static_cast<double>(i));
    EXPECT_EQ(encode_nnef_data(header, *read).value(), "\x1B");
}

TEST(NnefData, AppliesStoredLogarithmicRanges) {
    // m = ceil(log2 3) = 2, r = 3: the codes 0 to 3 are 2^-1 to 2^2
    NnefHeader header = header_for({4}, ItemType::QuantInt, 2);
    header.range = StoredRange{.logarithmic = true, .min = 0, .max = 3};
    const auto read = decode_nnef_data(header, "\x1B");
    ASSERT_TRUE(read);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(read->real(i), std::ldexp(1.0, i - 1));
    EXPECT_EQ(encode_nnef_data(header, *read).value(), "\x1B");

    // The same with a leading sign bit.
    header = header_for({4}, ItemType::QuantInt, 3);
    header.range = StoredRange{.logarithmic = true, .min = -3, .max = 3};
    const std::string data("\x0A\xE0", 2);  // 000 010 101 110
    const auto both = decode_nnef_data(header, data);
    ASSERT_TRUE(both);
    EXPECT_EQ(both->real(0), 0.5);
    EXPECT_EQ(both->real(1), 2.0);
    EXPECT_EQ(both->real(2), -1.0);
    EXPECT_EQ(both->real(3), -2.0);
    EXPECT_EQ(encode_nnef_data(header, *both).value(), data);
}

TEST(NnefData, ClampsWhatIsOutsideOfAStoredRange) {
    NnefHeader header = header_for({3}, ItemType::QuantUint, 8);
    header.range = StoredRange{.min = 0, .max = 1};
    Tensor tensor = Tensor::zeros(DType::F64, {3}).value();
    tensor.set_real(0, -7);
    tensor.set_real(1, 9);
    tensor.set_real(2, std::nan(""));
    EXPECT_EQ(encode_nnef_data(header, tensor).value(), std::string("\0\xFF\0", 3));
}

TEST(NnefData, AppliesStoredRangesToEveryWidth) {
    for (const bool logarithmic : {false, true}) {
        for (const float min : {0.0f, -4.0f}) {
            for (uint32_t bits = 1; bits <= 64; ++bits) {
                NnefHeader header =
                    header_for({5}, logarithmic ? ItemType::QuantInt : ItemType::QuantUint, bits);
                header.range = StoredRange{.logarithmic = logarithmic, .min = min, .max = 4};
                const std::string ones(static_cast<size_t>(header.data_bytes), '\xFF');
                const auto read = decode_nnef_data(header, ones);
                ASSERT_TRUE(read);
                const bool with_sign = logarithmic && min < 0;
                EXPECT_EQ(read->real(4), with_sign ? -4.0 : 4.0) << bits;
            }
        }
    }
}

// ---- Round trips --------------------------------------------------------------------------------

TEST(NnefData, ReadsBackIntegersOfEveryWidth) {
    std::mt19937_64 random(20210615);
    for (const ItemType type :
         {ItemType::Uint, ItemType::Int, ItemType::QuantUint, ItemType::QuantInt}) {
        const bool with_sign = type == ItemType::Int || type == ItemType::QuantInt;
        for (uint32_t bits = 1; bits <= 64; ++bits) {
            const NnefHeader header = header_for({3, 7}, type, bits);
            const DType dtype = dtype_of_items(header);
            EXPECT_GE(8 * dtype_size(dtype), bits);
            EXPECT_EQ(is_signed(dtype), with_sign);
            Tensor tensor = Tensor::zeros(dtype, {3, 7}).value();
            for (int64_t i = 0; i < tensor.size(); ++i) {
                const uint64_t item = random() >> (64 - bits);
                const auto value = static_cast<int64_t>(item << (64 - bits)) >> (64 - bits);
                tensor.set_integer(i, with_sign ? value : static_cast<int64_t>(item));
            }
            const auto data = encode_nnef_data(header, tensor);
            ASSERT_TRUE(data) << data.error().message;
            EXPECT_EQ(static_cast<int64_t>(data->size()), header.data_bytes);
            const auto read = decode_nnef_data(header, *data);
            ASSERT_TRUE(read) << read.error().message;
            EXPECT_TRUE(same(*read, tensor)) << item_text(header);
        }
    }
}

TEST(NnefData, ReadsBackFilesOfEveryDtype) {
    std::mt19937_64 random(1);
    for (int code = 0; code < static_cast<int>(DType::Str); ++code) {
        const auto dtype = static_cast<DType>(code);
        for (const Shape& shape : {Shape{}, Shape{11}, Shape{2, 3, 5}, Shape{4, 0, 2}}) {
            Tensor tensor = Tensor::zeros(dtype, shape).value();
            for (int64_t i = 0; i < tensor.size(); ++i) {
                if (is_real(dtype)) {
                    tensor.set_real(i, std::ldexp(static_cast<double>(random() % 2001), -7) - 5);
                } else {
                    tensor.set_integer(i, static_cast<int64_t>(random() % (code % 2 ? 2 : 256)));
                }
            }
            const auto file = encode_nnef(tensor);
            ASSERT_TRUE(file) << file.error().message;
            const auto read = decode_nnef(*file);
            ASSERT_TRUE(read) << read.error().message;
            EXPECT_EQ(read->dtype(), dtype == DType::BF16 ? DType::F32 : dtype);
            EXPECT_EQ(read->shape(), shape);
            for (int64_t i = 0; i < tensor.size(); ++i) EXPECT_EQ(read->real(i), tensor.real(i));
        }
    }
}

TEST(NnefData, KeepsEveryBitOfFloats) {
    for (const uint32_t bits : {16u, 32u, 64u}) {
        std::string data(3 * bits / 8, '\xFF');  // NaN, with all bits set
        data[0] = '\x01';
        const NnefHeader header = header_for({3}, ItemType::Float, bits);
        EXPECT_EQ(encode_nnef_data(header, decode_nnef_data(header, data).value()).value(), data);
    }
}

TEST(NnefData, RoundsRealsToTheItems) {
    Tensor tensor = Tensor::zeros(DType::F64, {2}).value();
    tensor.set_real(0, 0.1);
    tensor.set_real(1, -1e300);
    const NnefHeader header = header_for({2}, ItemType::Float, 32);
    const auto read = decode_nnef_data(header, encode_nnef_data(header, tensor).value());
    EXPECT_EQ(read->real(0), 0.1f);
    EXPECT_EQ(read->real(1), -HUGE_VAL);
}

// ---- Refusals -----------------------------------------------------------------------------------

std::string encode_error(const NnefHeader& header, const Tensor& tensor) {
    const auto data = encode_nnef_data(header, tensor);
    return data ? "no error" : data.error().message;
}

TEST(NnefData, RefusesIntegersThatTheBitsCannotHold) {
    const Tensor tensor = integer_tensor(DType::I32, {2, 2}, {3, 0, -4, 4});
    EXPECT_EQ(encode_error(header_for({2, 2}, ItemType::Int, 3), tensor),
              "element [1, 1] is 4, which 3-bit int cannot hold");
    EXPECT_EQ(encode_error(header_for({2, 2}, ItemType::Uint, 32), tensor),
              "element [1, 0] is -4, which 32-bit unsigned int cannot hold");
    const Tensor huge = integer_tensor(DType::U64, {}, {-1});
    EXPECT_EQ(encode_error(header_for({}, ItemType::Int, 64), huge),
              "the element is 18446744073709551615, which 64-bit int cannot hold");
    EXPECT_EQ(encode_error(header_for({}, ItemType::Uint, 64), huge), "no error");
}

TEST(NnefData, RefusesOtherKinds) {
    const Tensor reals = Tensor::zeros(DType::F32, {1}).value();
    EXPECT_EQ(encode_error(header_for({1}, ItemType::Int, 32), reals),
              "a tensor of f32 cannot be stored as 32-bit int");
    EXPECT_EQ(
        encode_error(header_for({1}, ItemType::Float, 32), Tensor::zeros(DType::Str, {1}).value()),
        "a tensor of str cannot be stored as 32-bit float");
    EXPECT_EQ(encode_nnef(Tensor::zeros(DType::Str, {1}).value()).error().message,
              "str cannot be stored in a .dat file");
    EXPECT_EQ(encode_nnef(Tensor::zeros(DType::F32, Shape(9, 1)).value()).error().message,
              "32-bit float of shape [1, 1, 1, 1, 1, 1, 1, 1, 1] cannot be stored in a .dat file");
}

TEST(NnefData, RefusesDataOfAnotherLength) {
    EXPECT_EQ(decode_nnef_data(header_for({2}, ItemType::Float, 32), "1234567").error().message,
              "it has 7 bytes of data, expected 8");
    const std::string file = encode_nnef(Tensor::zeros(DType::F32, {2}).value()).value();
    EXPECT_EQ(decode_nnef(file.substr(0, 135)).error().message,
              "it has 135 bytes, but header and data need 136");
    EXPECT_EQ(decode_nnef(file.substr(0, 100)).error().message,
              "it has 100 bytes, but a header has 128");
    EXPECT_TRUE(decode_nnef(file + "and more"));  // the header reports it as an oddity
}

TEST(NnefData, RefusesHugeClaimsWithoutMemory) {
    // 2^62 items of 1 bit in a file of 128 bytes, with any claimed length.
    std::string file = encode_nnef(Tensor::zeros(DType::Bool, {1, 1}).value()).value();
    file.resize(128);
    for (const size_t at : {12, 16}) file.replace(at, 4, std::string("\0\0\0\x80", 4));
    for (const char* length : {"\0\0\0\0", "\xFF\xFF\xFF\xFF"}) {
        file.replace(4, 4, std::string(length, 4));
        const auto tensor = decode_nnef(file);
        ASSERT_FALSE(tensor);
        EXPECT_NE(tensor.error().message.find("needs 576460752303423488"), std::string::npos);
    }
}

// ---- Files --------------------------------------------------------------------------------------

class NnefFiles : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("lemma_nnef_data_" + std::to_string(getpid()));
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    fs::path folder_;
};

TEST_F(NnefFiles, ReadBackFromDisk) {
    for (const DType dtype : {DType::F32, DType::Bool, DType::I16}) {
        const Tensor tensor = integer_tensor(dtype, {2, 3}, {1, 0, 1, 1, 0, 1});
        ASSERT_TRUE(write_nnef(path("v.dat"), tensor));
        const auto read = read_nnef(path("v.dat"));
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_TRUE(same(*read, tensor));
    }
}

TEST_F(NnefFiles, NameThemselvesInErrors) {
    EXPECT_EQ(read_nnef(path("none.dat")).error().message,
              "cannot read `" + path("none.dat") + "`: there is no such file or folder");
    EXPECT_EQ(read_nnef(folder_.string()).error().message,
              "cannot read `" + folder_.string() + "`: it is a folder");
    ASSERT_TRUE(write_file(path("short.dat"), "N\xEF\x01"));
    EXPECT_EQ(read_nnef(path("short.dat")).error().message,
              "cannot read `" + path("short.dat") + "`: it has 3 bytes, but a header has 128");
    const Tensor text = Tensor::zeros(DType::Str, {1}).value();
    EXPECT_EQ(write_nnef(path("v.dat"), text).error().message,
              "cannot write `" + path("v.dat") + "`: str cannot be stored in a .dat file");
    EXPECT_EQ(
        write_nnef(path("no/such/v.dat"), integer_tensor(DType::I8, {1}, {1})).error().message,
        "cannot write `" + path("no/such/v.dat") + "`: there is no such file or folder");
}

}  // namespace

}  // namespace lemma::tensor
