// SPDX-License-Identifier: Apache-2.0
// serve/core/types.h — what both protocols have in common: requests, answers and failures.
#pragma once

#include <lemma/lemma.h>

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lemma::serve {

using Clock = std::chrono::steady_clock;
using Shape = std::vector<int64_t>;

enum class Code : uint8_t {
    Good,
    Invalid,          // the request does not fit the protocol or the model
    Unauthenticated,  // no token, or a wrong one
    NotFound,         // no such path, model or version
    TooLarge,         // the body exceeds the limit
    Exhausted,        // the queue is full
    Deadline,         // the time limit is over
    Cancelled,        // the client went away
    Unavailable,      // the model is being loaded, or the server stops
    Internal,
};
inline constexpr size_t kCodes = 10;

// "invalid", for metrics and logs.
std::string_view code_name(Code code);
// 400, for HTTP.
int http_status(Code code);

struct Failure {
    Code code = Code::Internal;
    std::string message;
};

template <class T>
using Answer = std::expected<T, Failure>;

inline std::unexpected<Failure> fails(Code code, std::string message) {
    return std::unexpected(Failure{code, std::move(message)});
}

// "FP32" for LEMMA_F32; empty if there is no such type.
std::string_view datatype_name(int type);
// LEMMA_NO_TYPE if there is none.
int datatype_from_name(std::string_view name);
// Bytes of an element; 0 for strings.
int64_t element_size(int type);

// The number of elements; empty if an extent is negative or the product is too large.
std::optional<int64_t> volume(const Shape& shape);
// The bytes of a tensor of numbers.
std::optional<int64_t> byte_size(int type, const Shape& shape);

// `[1,3,224,224]`
std::string shape_text(const Shape& shape);

// A tensor of a request or an answer. `data` belongs to `owner`, or to whoever made the tensor.
struct TensorValue {
    std::string name;
    int type = LEMMA_NO_TYPE;
    Shape shape;
    const void* data = nullptr;
    size_t size = 0;
    std::vector<std::string> strings;  // instead of data, for LEMMA_STR
    std::shared_ptr<const void> owner;
};

// Elements of strings as the binary form of the protocol: a length of four bytes before each.
std::string strings_as_bytes(const std::vector<std::string>& strings);
Answer<std::vector<std::string>> bytes_as_strings(std::string_view bytes);

struct RequestedOutput {
    std::string name;
    bool binary = false;
};

struct InferRequest {
    std::string model;
    std::string version;  // empty: the default one
    std::string id;
    std::vector<TensorValue> inputs;
    std::vector<RequestedOutput> outputs;  // empty: all
    bool binary_outputs = false;           // of outputs that are not listed
    Clock::time_point deadline = Clock::time_point::max();
    std::function<bool()> abandoned;  // whether the client went away; may be empty
};

// The duration of the parts of a request, for the log.
struct Timing {
    double queue = 0;    // seconds
    double compute = 0;  // seconds
    int64_t batch = 0;   // requests that began together; 0: it did not run
};

struct InferResponse {
    std::string model;
    std::string version;
    std::string id;
    std::vector<TensorValue> outputs;
    std::vector<bool> binary;  // for each output
    Timing timing;
};

using Reply = std::function<void(Answer<InferResponse>)>;

struct TensorMetadata {
    std::string name;
    int type = LEMMA_NO_TYPE;
    Shape shape;          // -1: a runtime extent
    Shape bounds;         // -1: none
    std::string leading;  // the first extent as text; empty without axes
    bool optional = false;
};

struct ModelMetadata {
    std::string name;
    std::vector<std::string> versions;
    std::string platform;
    std::vector<TensorMetadata> inputs;
    std::vector<TensorMetadata> outputs;
};

}  // namespace lemma::serve
