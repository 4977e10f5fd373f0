// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/json_file.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lemma::tensor {

namespace {

std::string error_of(const std::string& text) {
    const auto tensor = decode_json(text);
    return tensor ? "" : tensor.error().message;
}

TEST(JsonFile, ReadsNestedLists) {
    const auto tensor = decode_json("[[1, 2, 3], [4, 5, 6]]");
    ASSERT_TRUE(tensor);
    EXPECT_EQ(tensor->dtype(), DType::I64);
    EXPECT_EQ(tensor->shape(), (Shape{2, 3}));
    EXPECT_EQ(tensor->integer(4), 5);
}

TEST(JsonFile, OnePointMakesAllReal) {
    const auto tensor = decode_json("[1, 2.5, \"-inf\", \"nan\"]");
    ASSERT_TRUE(tensor);
    EXPECT_EQ(tensor->dtype(), DType::F32);
    EXPECT_EQ(tensor->real(1), 2.5);
    EXPECT_EQ(tensor->real(2), -INFINITY);
    EXPECT_TRUE(std::isnan(tensor->real(3)));
}

TEST(JsonFile, ReadsScalarsBoolsTextAndNothing) {
    EXPECT_EQ(decode_json("7")->shape(), Shape{});
    EXPECT_EQ(decode_json("[true, false]")->dtype(), DType::Bool);
    EXPECT_EQ(decode_json("[\"a\", \"nan\"]")->strings()[1], "nan");
    EXPECT_EQ(decode_json("[[], []]")->shape(), (Shape{2, 0}));
}

TEST(JsonFile, SaysWhatIsWrong) {
    EXPECT_EQ(error_of("[1, 2"), "it is not JSON");
    EXPECT_EQ(error_of("[[1, 2], [3]]"), "its lists differ in length along axis 1: expected 2");
    EXPECT_EQ(error_of("[[1, 2], 3]"), "its lists differ in length along axis 1: expected 2");
    EXPECT_EQ(error_of("[1, [2]]"), "its lists are not all nested alike");
    EXPECT_EQ(error_of("[1, true]"), "its items are of different kinds");
    EXPECT_EQ(error_of("{\"a\": 1}"), "its lists are not all nested alike");
    EXPECT_EQ(error_of(std::string(100'000, '[') + std::string(100'000, ']')),
              "its lists are nested too deep");
}

TEST(JsonFile, WritesWhatItReads) {
    for (const char* text :
         {"7\n", "[1, 2]\n", "[[1.5, 2.0],\n [\"nan\", \"-inf\"]]\n", "[true]\n"}) {
        EXPECT_EQ(encode_json(*decode_json(text)), text);
    }
}

}  // namespace

}  // namespace lemma::tensor
