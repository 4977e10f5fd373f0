// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/nnef_file.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>

namespace lemma::tensor {

namespace {

// A header that tests damage word by word, with the words as the format defines them.
class Header {
public:
    enum Word { DataLength = 1, Rank = 2, Extent0 = 3, Bits = 11, Type = 12, Parameter0 = 13 };

    Header(Shape shape, ItemType type, uint32_t bits) {
        bytes = encode_nnef_header({.shape = std::move(shape), .type = type, .bits = bits}).value();
    }
    Header& set(int word, uint32_t value) {
        for (int i = 0; i < 4; ++i) bytes[4 * word + i] = static_cast<char>(value >> 8 * i & 255);
        return *this;
    }
    Result<NnefHeader> decode(int64_t data_bytes) const {
        return decode_nnef_header(bytes, kNnefHeaderBytes + data_bytes);
    }
    std::string error(int64_t data_bytes) const {
        const auto header = decode(data_bytes);
        return header ? "no error" : header.error().message;
    }

    std::string bytes;
};

const Header kSmall({2, 3}, ItemType::Float, 32);

TEST(NnefFile, HeaderReadsBack) {
    const auto header = kSmall.decode(24);
    ASSERT_TRUE(header) << header.error().message;
    EXPECT_EQ(header->shape, (Shape{2, 3}));
    EXPECT_EQ(header->type, ItemType::Float);
    EXPECT_EQ(header->bits, 32u);
    EXPECT_EQ(header->volume, 6);
    EXPECT_EQ(header->data_begin, 128);
    EXPECT_EQ(header->data_bytes, 24);
    EXPECT_FALSE(header->range);
    EXPECT_TRUE(header->oddities.empty());
    EXPECT_EQ(item_text(*header), "32-bit float");
}

TEST(NnefFile, LaysTheHeaderOutAsTheSpecificationSays) {
    const std::string bytes = Header({258}, ItemType::Int, 16).bytes;
    ASSERT_EQ(bytes.size(), 128u);
    EXPECT_EQ(bytes.substr(0, 20),
              std::string("N\xEF\x01\x00\x04\x02\x00\x00\x01\x00\x00\x00\x02\x01\x00\x00"
                          "\x00\x00\x00\x00",
                          20));
    EXPECT_EQ(bytes.substr(44, 8), std::string("\x10\x00\x00\x00\x04\x00\x00\x00", 8));
}

TEST(NnefFile, PacksItemsIntoBytes) {
    EXPECT_TRUE(Header({9}, ItemType::Bool, 1).decode(2));
    EXPECT_TRUE(Header({9}, ItemType::Bool, 8).decode(9));
    EXPECT_TRUE(Header({3, 3}, ItemType::Uint, 5).decode(6));
    EXPECT_TRUE(Header({}, ItemType::Int, 64).decode(8));
    EXPECT_TRUE(Header({0, 7}, ItemType::Float, 16).decode(0));
    EXPECT_TRUE(Header({2, 1, 1, 1, 1, 1, 1, 3}, ItemType::QuantUint, 8).decode(6));
}

TEST(NnefFile, RefusesTruncatedHeaders) {
    for (const size_t size : {0, 1, 2, 4, 127}) {
        const auto header =
            decode_nnef_header(kSmall.bytes.substr(0, size), static_cast<int64_t>(size));
        ASSERT_FALSE(header) << size;
        EXPECT_EQ(header.error().message,
                  "it has " + std::to_string(size) + " bytes, but a header has 128");
    }
}

TEST(NnefFile, RefusesOtherFilesAndVersions) {
    EXPECT_EQ(Header(kSmall).set(0, 0x0001454E).error(24),
              "it does not begin with the bytes 4E EF of a tensor file");
    EXPECT_EQ(Header(kSmall).set(0, 0x0002EF4E).error(24),
              "it has version 2.0 of the format, expected 1.0");
    EXPECT_EQ(Header(kSmall).set(0, 0x0101EF4E).error(24),
              "it has version 1.1 of the format, expected 1.0");
}

TEST(NnefFile, RefusesRanksBeyondEight) {
    EXPECT_EQ(Header(kSmall).set(Header::Rank, 9).error(24),
              "it has rank 9, but the format has at most 8");
    EXPECT_FALSE(Header(kSmall).set(Header::Rank, 0xFFFFFFFF).decode(24));
}

TEST(NnefFile, RefusesShapesWhoseVolumeOverflows) {
    Header header({1, 1, 1}, ItemType::Float, 32);
    for (int i = 0; i < 3; ++i) header.set(Header::Extent0 + i, 1u << 30);
    EXPECT_EQ(header.set(Header::DataLength, 0).error(0),
              "its shape [1073741824, 1073741824, 1073741824] is too large");
}

TEST(NnefFile, RefusesClaimsThatTheLengthCannotHold) {
    // 2^62 items, 2^67 bits.
    Header header({1, 1}, ItemType::Float, 32);
    header.set(Header::Extent0, 1u << 31).set(Header::Extent0 + 1, 1u << 31);
    EXPECT_EQ(header.set(Header::DataLength, 0).error(0),
              "it claims 0 bytes of data, but 32-bit float of shape [2147483648, 2147483648] is "
              "too large");
    header.set(Header::Extent0, 1u << 30).set(Header::Extent0 + 1, 1u << 29);
    EXPECT_NE(header.error(0).find("needs 2305843009213693952"), std::string::npos);
}

TEST(NnefFile, RefusesContradictoryLengths) {
    EXPECT_EQ(Header(kSmall).set(Header::DataLength, 23).error(24),
              "it claims 23 bytes of data, but 32-bit float of shape [2, 3] needs 24");
    EXPECT_EQ(kSmall.error(23), "it has 151 bytes, but header and data need 152");
    EXPECT_EQ(kSmall.error(0), "it has 128 bytes, but header and data need 152");
}

TEST(NnefFile, RefusesItemTypesThatTheFormatDoesNotHave) {
    EXPECT_EQ(Header(kSmall).set(Header::Type, 6).error(24), "it has the unknown item type 6");
    EXPECT_EQ(Header(kSmall).set(Header::Type, 0x20001).error(24),
              "its item type 1 is one of vendor 2");
    EXPECT_EQ(Header(kSmall).set(Header::Bits, 8).error(24),
              "its items are 8-bit float, which the format does not have");
    for (const uint32_t bits : {0u, 65u, 0xFFFFFFFFu}) {
        for (const uint32_t type : {1u, 2u, 3u, 4u, 5u}) {
            EXPECT_FALSE(Header(kSmall).set(Header::Type, type).set(Header::Bits, bits).decode(24));
        }
    }
    EXPECT_FALSE(Header(kSmall).set(Header::Type, 5).set(Header::Bits, 7).decode(24));
}

TEST(NnefFile, ReadsDeprecatedParameters) {
    const auto is_signed =
        Header({4}, ItemType::Uint, 8).set(Header::Parameter0, 1).decode(4).value();
    EXPECT_EQ(is_signed.type, ItemType::Int);
    EXPECT_EQ(is_signed.oddities.size(), 1u);

    Header linear({4}, ItemType::QuantUint, 8);
    linear.set(Header::Parameter0, std::bit_cast<uint32_t>(-1.5f));
    linear.set(Header::Parameter0 + 1, std::bit_cast<uint32_t>(2.5f));
    EXPECT_EQ(linear.decode(4).value().range, (StoredRange{false, -1.5f, 2.5f}));

    Header logarithmic({4}, ItemType::QuantInt, 8);
    logarithmic.set(Header::Parameter0, std::bit_cast<uint32_t>(-4.0f));
    logarithmic.set(Header::Parameter0 + 1, std::bit_cast<uint32_t>(4.0f));
    EXPECT_EQ(logarithmic.decode(4).value().range, (StoredRange{true, -4.0f, 4.0f}));
    EXPECT_EQ(*encode_nnef_header(logarithmic.decode(4).value()), logarithmic.bytes);
}

TEST(NnefFile, RefusesRangesThatAreNone) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    for (const auto& [min, max] : {std::pair{1.0f, 1.0f}, {2.0f, 1.0f}, {nan, 1.0f}, {0.0f, inf}}) {
        Header header({4}, ItemType::QuantUint, 8);
        header.set(Header::Parameter0, std::bit_cast<uint32_t>(min));
        header.set(Header::Parameter0 + 1, std::bit_cast<uint32_t>(max));
        EXPECT_FALSE(header.decode(4)) << min << ' ' << max;
    }
    Header header({4}, ItemType::QuantInt, 8);
    header.set(Header::Parameter0, std::bit_cast<uint32_t>(-1.0f));
    header.set(Header::Parameter0 + 1, std::bit_cast<uint32_t>(4.0f));
    EXPECT_FALSE(header.decode(4));
}

TEST(NnefFile, RemarksOnWhatIsOddAndHarmless) {
    EXPECT_EQ(kSmall.decode(31).value().oddities,
              std::vector<std::string>{"7 bytes follow its data"});
    EXPECT_EQ(Header(kSmall).set(Header::Extent0 + 2, 5).decode(24).value().oddities,
              std::vector<std::string>{"extents beyond the rank are not 0"});
    const auto old = kSmall.decode(28).value();
    EXPECT_EQ(old.data_begin, 132);
    EXPECT_EQ(old.oddities.size(), 1u);
}

TEST(NnefFile, RefusesToWriteWhatTheFormatCannotHold) {
    EXPECT_FALSE(encode_nnef_header({.shape = Shape(9, 1)}));
    EXPECT_FALSE(encode_nnef_header({.shape = {1 << 30, 4}}));
    EXPECT_FALSE(encode_nnef_header({.shape = {0, int64_t{1} << 32}}));
    EXPECT_FALSE(encode_nnef_header({.shape = {-1}}));
    EXPECT_FALSE(encode_nnef_header({.shape = {1}, .type = ItemType::Bool, .bits = 32}));
}

TEST(NnefFile, KnowsWhichVariablesItemsCanStore) {
    EXPECT_TRUE(can_store(ItemType::Float, DType::F32));
    EXPECT_TRUE(can_store(ItemType::QuantInt, DType::F16));
    EXPECT_FALSE(can_store(ItemType::Float, DType::I64));
    EXPECT_TRUE(can_store(ItemType::Uint, DType::I32));
    EXPECT_TRUE(can_store(ItemType::Int, DType::I64));
    EXPECT_FALSE(can_store(ItemType::Int, DType::F32));
    EXPECT_FALSE(can_store(ItemType::QuantUint, DType::U8));
    EXPECT_TRUE(can_store(ItemType::Bool, DType::Bool));
    EXPECT_FALSE(can_store(ItemType::Bool, DType::Str));
}

}  // namespace

}  // namespace lemma::tensor
