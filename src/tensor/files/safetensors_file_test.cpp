// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/safetensors_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "tensor/files/file_io.h"

namespace lemma::tensor {

namespace {

namespace fs = std::filesystem;

std::string file(const std::string& header, const std::string& data) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 255);
    return bytes + header + data;
}

std::string error(const std::string& bytes) {
    const auto read = decode_safetensors(bytes);
    return read ? "no error" : read.error().message;
}

// An entry of a header.
std::string entry(const std::string& name,
                  const std::string& dtype,
                  const std::string& shape,
                  const std::string& offsets) {
    return fmt::format(
        R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{}]}})", name, dtype, shape, offsets);
}

SafetensorsFile every_dtype() {
    std::mt19937_64 random(3);
    SafetensorsFile result;
    for (int code = 0; code < static_cast<int>(DType::Str); ++code) {
        const auto dtype = static_cast<DType>(code);
        for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0}, Shape{2, 1, 3}}) {
            NamedTensor named{.name = fmt::format("{}.{}", dtype_name(dtype), shape.size()),
                              .tensor = Tensor::zeros(dtype, shape).value()};
            for (std::byte& byte : named.tensor.bytes()) {
                byte = static_cast<std::byte>(random() % (dtype == DType::Bool ? 2 : 256));
            }
            result.tensors.push_back(std::move(named));
        }
    }
    result.metadata = {{"format", "pt"}, {"größe", "12"}};
    return result;
}

void expect_same(SafetensorsFile a, SafetensorsFile b) {
    EXPECT_EQ(a.metadata, b.metadata);
    ASSERT_EQ(a.tensors.size(), b.tensors.size());
    std::ranges::sort(a.tensors, {}, &NamedTensor::name);
    std::ranges::sort(b.tensors, {}, &NamedTensor::name);
    for (size_t i = 0; i < a.tensors.size(); ++i) {
        EXPECT_EQ(a.tensors[i].name, b.tensors[i].name);
        EXPECT_EQ(a.tensors[i].tensor.dtype(), b.tensors[i].tensor.dtype());
        EXPECT_EQ(a.tensors[i].tensor.shape(), b.tensors[i].tensor.shape());
        EXPECT_TRUE(std::ranges::equal(a.tensors[i].tensor.bytes(), b.tensors[i].tensor.bytes()));
    }
}

TEST(Safetensors, ReadsBytesByHand) {
    const auto read =
        decode_safetensors(file("{" + entry("b", "BOOL", "2", "2,4") + "," +
                                    entry("a", "I16", "", "0,2") + R"(,"__metadata__":{"k":"v"}})",
                                std::string("\xFE\xFF\0\x05", 4)));
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->tensors.size(), 2u);
    EXPECT_EQ(read->tensors[0].name, "a");
    EXPECT_EQ(read->tensors[0].tensor.integer(0), -2);
    EXPECT_EQ(read->tensors[1].tensor.integer(0), 0);
    EXPECT_EQ(read->tensors[1].tensor.bytes()[1], std::byte{1});
    EXPECT_EQ(read->metadata.at("k"), "v");
    EXPECT_EQ(error(file("{}", "")), "no error");
}

TEST(Safetensors, ReadsBackEveryDtype) {
    const SafetensorsFile original = every_dtype();
    const auto bytes = encode_safetensors(original);
    ASSERT_TRUE(bytes) << bytes.error().message;
    const auto read = decode_safetensors(*bytes);
    ASSERT_TRUE(read) << read.error().message;
    expect_same(*read, original);
}

TEST(Safetensors, ReadsBackFromDisk) {
    const std::string path =
        (fs::temp_directory_path() / fmt::format("lemma_{}.safetensors", getpid())).string();
    const SafetensorsFile original = every_dtype();
    ASSERT_TRUE(write_safetensors(path, original));
    const auto read = read_safetensors(path);
    ASSERT_TRUE(read) << read.error().message;
    expect_same(*read, original);
    ASSERT_TRUE(write_file(path, "short"));
    EXPECT_EQ(read_safetensors(path).error().message,
              "cannot read `" + path + "`: it has 5 bytes, too few for a header");
    fs::remove(path);
}

TEST(Safetensors, RefusesHeadersThatAreNone) {
    EXPECT_EQ(error(""), "it has 0 bytes, too few for a header");
    EXPECT_EQ(error(std::string("\x10\0\0\0\0\0\0\0{}", 10)),
              "it has 10 bytes, but its header needs 24");
    EXPECT_EQ(error("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}"),
              "its header is said to have 18446744073709551615 bytes, more than the 100000000 "
              "allowed");
    EXPECT_EQ(error(file("", "")), "its header is not a JSON object");
    EXPECT_EQ(error(file("[]", "")), "its header is not a JSON object");
    EXPECT_EQ(error(file("{} {}", "")), "its header is not a JSON object");
    EXPECT_EQ(error(file("{\"\xFF\":{}}", "")), "its header is not a JSON object");
    EXPECT_EQ(error(file(R"({"a":1})", "")), "its tensor `a` is not described by a JSON object");
    EXPECT_EQ(error(file(std::string(100'000, '['), "")), "its header is nested too deeply");
    EXPECT_EQ(error(file(R"({"a":{"shape":[[[]]]}})", "")), "its header is nested too deeply");
}

TEST(Safetensors, RefusesNamesThatOccurTwice) {
    const std::string a = entry("a", "U8", "1", "0,1");
    EXPECT_EQ(error(file("{" + a + "," + a + "}", "1")), "its header has `a` twice");
    EXPECT_EQ(error(file(R"({"a":{"dtype":"U8","dtype":"I8"}})", "")),
              "its header has `dtype` twice");
    EXPECT_EQ(error(file("{" + a + "," + entry("b", "U8", "1", "1,2") + "}", "12")), "no error");
}

TEST(Safetensors, RefusesEntriesThatContradictThemselves) {
    EXPECT_EQ(error(file("{" + entry("a", "F8_E4M3", "1", "0,1") + "}", "1")),
              "its tensor `a` has the dtype `F8_E4M3`, which is not supported");
    EXPECT_EQ(error(file(R"({"a":{"shape":[1],"data_offsets":[0,1]}})", "1")),
              "its tensor `a` has the dtype ``, which is not supported");
    EXPECT_EQ(error(file("{" + entry("a", "U8", "-1", "0,1") + "}", "1")),
              "its tensor `a` has no proper `shape`");
    EXPECT_EQ(error(file("{" + entry("a", "U8", "1.0", "0,1") + "}", "1")),
              "its tensor `a` has no proper `shape`");
    EXPECT_EQ(error(file("{" + entry("a", "U8", "18446744073709551615", "0,1") + "}", "1")),
              "its tensor `a` has no proper `shape`");
    EXPECT_EQ(error(file("{" + entry("a", "U8", "1", "1,0") + "}", "1")),
              "its tensor `a` has no proper `data_offsets`");
    EXPECT_EQ(error(file("{" + entry("a", "U8", "1", "0,1,2") + "}", "1")),
              "its tensor `a` has no proper `data_offsets`");
    EXPECT_EQ(error(file("{" + entry("a", "F32", "1", "0,3") + "}", "123")),
              "its tensor `a` has 3 bytes, but f32 of shape [1] needs 4");
    EXPECT_EQ(error(file("{" + entry("a", "F32", "4611686018427387904,4", "0,0") + "}", "")),
              "its tensor `a` has 0 bytes, but f32 of shape [4611686018427387904, 4] is too large");
    EXPECT_EQ(error(file(R"({"__metadata__":{"k":1}})", "")), "its metadata `k` is not a text");
    EXPECT_EQ(error(file(R"({"__metadata__":"k"})", "")), "its metadata is not a JSON object");
}

TEST(Safetensors, RefusesHolesAndOverlaps) {
    const std::string a = entry("a", "U8", "2", "0,2");
    EXPECT_EQ(error(file("{" + a + "," + entry("b", "U8", "2", "1,3") + "}", "123")),
              "its tensor `b` overlaps the one before it");
    EXPECT_EQ(error(file("{" + a + "," + entry("b", "U8", "1", "3,4") + "}", "1234")),
              "its tensor `b` leaves 1 bytes before it unused");
    EXPECT_EQ(error(file("{" + a + "}", "1")), "its tensor `a` lies outside of the file");
    EXPECT_EQ(error(file("{" + a + "}", "123")), "it has 64 bytes, but header and tensors need 63");
    const std::string far = "9223372036854775807,9223372036854775807";
    EXPECT_EQ(error(file("{" + entry("a", "U8", "0", far) + "}", "")),
              "its tensor `a` lies outside of the file");
}

TEST(Safetensors, RefusesToWriteWhatTheFormatCannotHold) {
    const Tensor number = Tensor::zeros(DType::U8, {1}).value();
    const auto message = [](const SafetensorsFile& content) {
        return encode_safetensors(content).error().message;
    };
    EXPECT_EQ(message({.tensors = {{"a", number}, {"a", number}}, .metadata = {}}),
              "its tensor `a` has a name that is taken");
    EXPECT_EQ(message({.tensors = {{"__metadata__", number}}, .metadata = {}}),
              "its tensor `__metadata__` has a name that is taken");
    EXPECT_EQ(message({.tensors = {{"a", Tensor::zeros(DType::Str, {1}).value()}}, .metadata = {}}),
              "its tensor `a` has strings, which the format has not");
    EXPECT_EQ(message({.tensors = {{"\xFF", number}}, .metadata = {}}), "a name is not UTF-8 text");
}

// Each entry takes constant time, however many came before.
TEST(Safetensors, ReadsHeadersWithManyNames) {
    constexpr int kNames = 200'000;
    std::string header = "{";
    for (int i = 0; i < kNames; ++i) {
        header += (i == 0 ? "\"t" : ",\"t") + std::to_string(i) +
                  R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
    }
    header += "}";
    std::string bytes;
    for (size_t i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 255);
    bytes += header;
    // A quadratic comparison would take minutes.
    const auto read = decode_safetensors_header(bytes, static_cast<int64_t>(bytes.size()));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->entries.size(), static_cast<size_t>(kNames));
}

}  // namespace

}  // namespace lemma::tensor
