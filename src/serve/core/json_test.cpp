// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "serve/core/json_codec.h"
#include "serve/core/json_reader.h"

namespace lemma::serve {
namespace {

Answer<InferRequest> decode(std::string text, std::optional<size_t> json_size = std::nullopt) {
    return decode_request(std::make_shared<const std::string>(std::move(text)), json_size);
}

std::string message_of(std::string text, std::optional<size_t> json_size = std::nullopt) {
    const auto request = decode(std::move(text), json_size);
    if (request) return "";
    EXPECT_EQ(request.error().code, Code::Invalid);
    return request.error().message;
}

template <class T>
std::vector<T> numbers(const TensorValue& value) {
    std::vector<T> result(value.size / sizeof(T));
    std::memcpy(result.data(), value.data, value.size);
    return result;
}

std::string with_data(const std::string& type, const std::string& shape, const std::string& data) {
    return R"({"inputs":[{"name":"x","datatype":")" + type + R"(","shape":)" + shape +
           R"(,"data":)" + data + "}]}";
}

TEST(DecodeRequest, ReadsFlatAndNestedData) {
    const auto flat = decode(with_data("FP32", "[2,2]", "[1, 2.5, -3e-2, 0]"));
    ASSERT_TRUE(flat) << flat.error().message;
    EXPECT_EQ(numbers<float>(flat->inputs[0]), (std::vector<float>{1, 2.5F, -3e-2F, 0}));
    const auto nested = decode(with_data("INT8", "[2,2]", "[[1, -128],[127, 0]]"));
    ASSERT_TRUE(nested) << nested.error().message;
    EXPECT_EQ(numbers<int8_t>(nested->inputs[0]), (std::vector<int8_t>{1, -128, 127, 0}));
    EXPECT_EQ(nested->inputs[0].shape, (Shape{2, 2}));
}

TEST(DecodeRequest, TakesKeysInAnyOrderAndIgnoresUnknownOnes) {
    const auto request = decode(
        R"({"later": {"a": [1, {"b": null}]}, "outputs": [{"parameters": {"binary_data": true},
            "name": "y"}, {"name": "z"}], "inputs": [{"data": [7], "shape": [1], "name": "x",
            "parameters": {"unknown": 1}, "datatype": "UINT64"}], "id": "a\u00e9\ud83d\ude00\n"})");
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_EQ(numbers<uint64_t>(request->inputs[0]), std::vector<uint64_t>{7});
    EXPECT_EQ(request->id, "a\xC3\xA9\xF0\x9F\x98\x80\n");
    ASSERT_EQ(request->outputs.size(), 2U);
    EXPECT_TRUE(request->outputs[0].binary);
    EXPECT_FALSE(request->outputs[1].binary);
}

TEST(DecodeRequest, ReadsEveryDatatype) {
    for (const char* const type : {"INT8",
                                   "INT16",
                                   "INT32",
                                   "INT64",
                                   "UINT8",
                                   "UINT16",
                                   "UINT32",
                                   "UINT64",
                                   "FP32",
                                   "FP64",
                                   "BOOL"}) {
        const auto request = decode(with_data(type, "[2]", "[0,1]"));
        ASSERT_TRUE(request) << type;
        EXPECT_EQ(request->inputs[0].size, 2 * lemma_type_size(datatype_from_name(type)));
    }
    const auto strings = decode(with_data("BYTES", "[2]", R"(["a", "b\"c"])"));
    ASSERT_TRUE(strings);
    EXPECT_EQ(strings->inputs[0].strings, (std::vector<std::string>{"a", "b\"c"}));
    const auto limits =
        decode(with_data("INT64", "[2]", "[-9223372036854775808, 9223372036854775807]"));
    ASSERT_TRUE(limits);
    EXPECT_EQ(numbers<int64_t>(limits->inputs[0]), (std::vector<int64_t>{INT64_MIN, INT64_MAX}));
}

TEST(DecodeRequest, RoundsRealsAsTheTypeDoes) {
    const auto request = decode(with_data("FP32", "[3]", "[0.1, 1e-60, 16777217]"));
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_EQ(numbers<float>(request->inputs[0]), (std::vector<float>{0.1F, 0, 16777216}));
    EXPECT_NE(message_of(with_data("FP32", "[1]", "[1e60]")), "");
}

TEST(DecodeRequest, TakesBytesAfterTheJson) {
    const std::string json =
        R"({"inputs":[{"name":"x","datatype":"FP32","shape":[2],"parameters":{"binary_data_size":8}},)"
        R"({"name":"s","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":6}}],)"
        R"("parameters":{"binary_data_output":true}})";
    std::string body = json;
    const std::array<float, 2> values = {1.5F, -2};
    body.append(reinterpret_cast<const char*>(values.data()), sizeof values);
    body += strings_as_bytes({"hi"});
    const auto request = decode(body, json.size());
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_EQ(numbers<float>(request->inputs[0]), (std::vector<float>{1.5F, -2}));
    EXPECT_EQ(request->inputs[1].strings, std::vector<std::string>{"hi"});
    EXPECT_TRUE(request->binary_outputs);
    EXPECT_NE(message_of(body + "x", json.size()).find("belong to no input"), std::string::npos);
    EXPECT_NE(message_of(body.substr(0, body.size() - 7), json.size()), "");
    EXPECT_NE(message_of(body, body.size() + 1), "");
}

TEST(DecodeRequest, RefusesWrongDocuments) {
    const std::vector<std::string> wrong = {
        "",
        "[]",
        "{}",
        "{\"inputs\":[]} x",
        "{\"inputs\":[1]}",
        "{\"inputs\":[{}]}",
        "{\"inputs\":[{\"name\":\"x\"}]}",
        "{\"inputs\":{}}",
        "{\"inputs\"",
        "{\"inputs\":[],}",
        "{\"id\":\"\x01\",\"inputs\":[]}",
        "{\"id\":\"\xC3\",\"inputs\":[]}",
        "{\"id\":\"\\ud800\",\"inputs\":[]}",
        "{\"id\":\"\\q\",\"inputs\":[]}",
        with_data("FP32", "[2]", "[1]"),
        with_data("FP32", "[2]", "[1,2,3]"),
        with_data("FP32", "[2,1]", "[[1,2]]"),
        with_data("FP32", "[2,2]", "[[1,2],3,4]"),
        with_data("FP32", "[1]", "[[1]]"),
        with_data("FP32", "[1,1,1]", "[[1]]"),
        with_data("FP32", "[1]", "[01]"),
        with_data("FP32", "[1]", "[1.]"),
        with_data("FP32", "[1]", "[nan]"),
        with_data("FP32", "[1]", "[\"1\"]"),
        with_data("FP32", "[1]", "[1"),
        with_data("FP32", "[-1]", "[1]"),
        with_data("FP32", "[1.5]", "[1]"),
        with_data("FP32", "[9223372036854775807,9223372036854775807]", "[1]"),
        with_data("FP32", "[99999999999999999999]", "[1]"),
        with_data("FP16", "[1]", "[1]"),
        with_data("INT8", "[1]", "[128]"),
        with_data("UINT8", "[1]", "[-1]"),
        with_data("INT32", "[1]", "[1.0]"),
        with_data("BOOL", "[1]", "[2]"),
        with_data("FLOAT", "[1]", "[1]"),
        R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1],"data":[1],)"
        R"("parameters":{"binary_data_size":-1}}]})",
        R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1],"parameters":{"binary_data_size":4}}]})",
        R"({"parameters":{"timeout":-1},"inputs":[]})",
    };
    for (const std::string& text : wrong) EXPECT_NE(message_of(text), "") << text;
}

TEST(DecodeRequest, RefusesDeepNesting) {
    const std::string deep(100000, '[');
    EXPECT_NE(message_of("{\"x\":" + deep), "");
    EXPECT_NE(message_of(with_data("FP32", "[1]", deep)), "");
}

// Damaged requests are refused or read, but never more than their memory.
TEST(DecodeRequest, SurvivesDamage) {
    const std::string good =
        R"({"id":"\u00e9","inputs":[{"name":"x","datatype":"FP32","shape":[2,2],)"
        R"("data":[[1,2],[3.5e1,-4]]},{"name":"b","datatype":"BYTES","shape":[1],)"
        R"("parameters":{"binary_data_size":6}}],"outputs":[{"name":"y"}]})";
    ASSERT_TRUE(decode(good + strings_as_bytes({"hi"}), good.size()));
    std::mt19937 random(7);
    for (int i = 0; i < 20000; ++i) {
        std::string text = good + strings_as_bytes({"hi"});
        for (unsigned k = random() % 4; k < 4; ++k) {
            const size_t at = random() % text.size();
            const std::string_view pieces = "{}[]\",:0-e.\\u";
            switch (random() % 3) {
                case 0:
                    text[at] = static_cast<char>(random());
                    break;
                case 1:
                    text[at] = pieces[random() % pieces.size()];
                    break;
                default:
                    text.erase(at, random() % 5);
            }
            if (text.empty()) break;
        }
        const auto request = decode(text, std::min(good.size(), text.size()));
        EXPECT_TRUE(request || !request.error().message.empty());
    }
}

InferResponse response_of(TensorValue value, bool binary) {
    InferResponse response{.model = "m", .version = "1"};
    response.outputs.push_back(std::move(value));
    response.binary.push_back(binary);
    return response;
}

TEST(EncodeResponse, WritesNumbersThatReadBack) {
    const std::vector<float> values = {0.1F, -3, 1e30F, 1.0F / 3};
    TensorValue value{.name = "y", .type = LEMMA_F32, .shape = {4}};
    value.data = values.data();
    value.size = values.size() * sizeof(float);
    const auto encoded = encode_response(response_of(value, false));
    ASSERT_TRUE(encoded);
    EXPECT_FALSE(encoded->json_size);
    const std::string begin =
        R"({"model_name":"m","model_version":"1","outputs":[{"name":"y","datatype":"FP32","shape":[4],"data":)";
    ASSERT_TRUE(encoded->body.starts_with(begin)) << encoded->body;
    const std::string data = encoded->body.substr(begin.size());
    const auto back = decode(with_data("FP32", "[4]", data.substr(0, data.find(']') + 1)));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(numbers<float>(back->inputs[0]), values);
}

TEST(EncodeResponse, WritesBytesAfterTheJson) {
    const std::vector<int32_t> values = {1, -1};
    TensorValue value{.name = "y", .type = LEMMA_I32, .shape = {2}};
    value.data = values.data();
    value.size = values.size() * sizeof(int32_t);
    const auto encoded = encode_response(response_of(value, true));
    ASSERT_TRUE(encoded);
    ASSERT_EQ(encoded->json_size, encoded->body.size() - 8);
    EXPECT_NE(encoded->body.find(R"("parameters":{"binary_data_size":8})"), std::string::npos);
    EXPECT_EQ(std::memcmp(encoded->body.data() + *encoded->json_size, values.data(), 8), 0);
}

TEST(EncodeResponse, RefusesWhatJsonCannotExpress) {
    const std::vector<double> values = {std::nan("")};
    TensorValue value{.name = "y", .type = LEMMA_F64, .shape = {1}};
    value.data = values.data();
    value.size = sizeof(double);
    EXPECT_FALSE(encode_response(response_of(value, false)));
    EXPECT_TRUE(encode_response(response_of(value, true)));
    value.type = LEMMA_F16;
    EXPECT_FALSE(encode_response(response_of(value, false)));
}

TEST(EncodeError, Escapes) {
    EXPECT_EQ(encode_error("a \"b\"\n"), "{\"error\":\"a \\\"b\\\"\\u000a\"}");
}

}  // namespace
}  // namespace lemma::serve
