// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/wire.h"

#include <gtest/gtest.h>

#include <limits>

namespace lemma::tensor {

namespace {

using namespace std::string_literals;

// Reads to the end; returns the first error.
std::string error(std::string_view bytes) {
    WireReader reader(bytes);
    WireField field;
    while (true) {
        const auto more = reader.next(field);
        if (!more) return more.error().message;
        if (!*more) return "no error";
    }
}

WireField only_field(std::string_view bytes) {
    WireReader reader(bytes);
    WireField field;
    EXPECT_TRUE(reader.next(field).value());
    return field;
}

TEST(Wire, ReadsFieldsOfEveryType) {
    // From the documentation of the format: field 1 is 150, field 2 is "testing".
    const std::string bytes = "\x08\x96\x01\x12\x07testing\x1D\0\0\x80\x3F\x21\1\2\3\4\5\6\7\x08"s;
    WireReader reader(bytes);
    WireField field;
    ASSERT_TRUE(reader.next(field).value());
    EXPECT_EQ(field.number, 1u);
    EXPECT_EQ(wire_int(field).value(), 150);
    ASSERT_TRUE(reader.next(field).value());
    EXPECT_EQ(field.number, 2u);
    EXPECT_EQ(wire_bytes(field).value(), "testing");
    EXPECT_EQ(field.offset, 5);
    ASSERT_TRUE(reader.next(field).value());
    EXPECT_EQ(wire_float(field).value(), 1.0f);
    ASSERT_TRUE(reader.next(field).value());
    EXPECT_EQ(field.type, WireType::Fixed64);
    EXPECT_EQ(field.value, 0x0807060504030201u);
    EXPECT_FALSE(reader.next(field).value());
    EXPECT_FALSE(reader.next(field).value());
}

TEST(Wire, ReadsBackWhatItWrites) {
    WireWriter inner;
    inner.put_double(7, -0.5);
    WireWriter writer;
    const std::vector<int64_t> numbers = {0,
                                          1,
                                          127,
                                          128,
                                          -1,
                                          std::numeric_limits<int64_t>::min(),
                                          std::numeric_limits<int64_t>::max()};
    for (const int64_t number : numbers) writer.put_int(3, number);
    writer.put_ints(3, numbers);
    writer.put_float(4, 2.5f);
    writer.put_bytes((1u << 29) - 1, inner.bytes());

    WireReader reader(writer.bytes());
    WireField field;
    std::vector<int64_t> read;
    for (size_t i = 0; i <= numbers.size(); ++i) {
        ASSERT_TRUE(reader.next(field).value());
        ASSERT_TRUE(append_ints(field, read));
    }
    std::vector<int64_t> twice = numbers;
    twice.insert(twice.end(), numbers.begin(), numbers.end());
    EXPECT_EQ(read, twice);
    ASSERT_TRUE(reader.next(field).value());
    EXPECT_EQ(wire_float(field).value(), 2.5f);
    ASSERT_TRUE(reader.next(field).value());
    EXPECT_EQ(field.number, (1u << 29) - 1);
    WireReader message = WireReader::open(field).value();
    ASSERT_TRUE(message.next(field).value());
    EXPECT_EQ(wire_double(field).value(), -0.5);
}

TEST(Wire, ReadsPackedNumbersAndSingleOnes) {
    std::vector<float> floats;
    ASSERT_TRUE(append_floats(only_field("\x0A\x08\0\0\x80\x3F\0\0\0\x40"s), floats));
    ASSERT_TRUE(append_floats(only_field("\x0D\0\0\x40\x40"s), floats));
    EXPECT_EQ(floats, (std::vector<float>{1, 2, 3}));
    std::vector<double> doubles;
    ASSERT_TRUE(append_doubles(only_field("\x0A\x08\0\0\0\0\0\0\xF0\x3F"s), doubles));
    EXPECT_EQ(doubles, (std::vector<double>{1}));
    EXPECT_EQ(append_floats(only_field("\x0A\x05\0\0\x80\x3F\0"s), floats).error().message,
              "it is damaged at byte 6: a number is cut off");
    EXPECT_EQ(append_floats(only_field("\x08\x01"), floats).error().message,
              "it is damaged at byte 1: field 1 is a varint, expected 4 bytes");
    std::vector<int64_t> ints;
    EXPECT_EQ(append_ints(only_field("\x0A\x02\x01\x80"), ints).error().message,
              "it is damaged at byte 3: a number is cut off");
}

TEST(Wire, RefusesDamage) {
    EXPECT_EQ(error(""), "no error");
    EXPECT_EQ(error("\x08"), "it is damaged at byte 1: a number is cut off");
    EXPECT_EQ(error("\x08\x80\x80"), "it is damaged at byte 1: a number is cut off");
    EXPECT_EQ(error("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), "no error");
    EXPECT_EQ(error("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"),
              "it is damaged at byte 1: a number has more than 64 bits");
    EXPECT_EQ(error("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
              "it is damaged at byte 1: a number has more than 64 bits");
    EXPECT_EQ(error("\x12\x07test"),
              "it is damaged at byte 2: 7 bytes are announced, but 4 are left");
    EXPECT_EQ(error("\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"),
              "it is damaged at byte 11: 18446744073709551615 bytes are announced, but 0 are left");
    EXPECT_EQ(error("\x0D\1\2\3"), "it is damaged at byte 1: a number is cut off");
    EXPECT_EQ(error("\x09\1\2\3\4\5\6\7"), "it is damaged at byte 1: a number is cut off");
    EXPECT_EQ(error("\x08\x01\x07"), "it is damaged at byte 2: there is no field 0");
    EXPECT_EQ(error("\x80\x80\x80\x80\x10"),
              "it is damaged at byte 0: there is no field 536870912");
    EXPECT_EQ(error("\x0F"), "it is damaged at byte 0: there is no wire type 7");
}

TEST(Wire, PassesOverGroups) {
    // group 1 { 1: 5, group 2 { } }, then 3: 7
    const std::string bytes = "\x0B\x08\x05\x13\x14\x0C\x18\x07";
    const WireField field = only_field(bytes);
    EXPECT_EQ(field.number, 3u);
    EXPECT_EQ(field.value, 7u);
    EXPECT_EQ(error("\x0C"), "it is damaged at byte 1: a group ends that has not begun");
    EXPECT_EQ(error("\x0B\x14"), "it is damaged at byte 2: a group has the end of another");
    EXPECT_EQ(error("\x0B\x08\x05"), "it is damaged at byte 3: a group is cut off");
    EXPECT_EQ(error(std::string(100'000, '\x0B')),
              "it is damaged at byte 101: groups are nested more than 100 deep");
}

TEST(Wire, LimitsTheDepthOfMessages) {
    WireField field = {.number = 1, .type = WireType::Bytes, .bytes = "\x0A"};
    int depth = 0;
    auto reader = WireReader::open(field);
    for (; reader; ++depth) {
        field.depth = depth + 1;
        reader = WireReader::open(field);
    }
    EXPECT_EQ(depth, kMaxWireDepth - 1);
    EXPECT_EQ(reader.error().message,
              "it is damaged at byte 0: messages are nested more than 100 deep");
}

TEST(Wire, NamesTheFieldOfAnotherType) {
    EXPECT_EQ(WireReader::open(only_field("\x28\x01")).error().message,
              "it is damaged at byte 1: field 5 is a varint, expected a string or message");
    EXPECT_EQ(wire_int(only_field("\x0A\x00"s)).error().message,
              "it is damaged at byte 2: field 1 is a string or message, expected a varint");
    EXPECT_FALSE(wire_float(only_field("\x08\x01")));
    EXPECT_FALSE(wire_double(only_field("\x0D\1\2\3\4")));
    EXPECT_FALSE(wire_bytes(only_field("\x09\1\2\3\4\5\6\7\x08")));
}

}  // namespace

}  // namespace lemma::tensor
