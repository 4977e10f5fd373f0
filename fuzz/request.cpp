// Bytes as the body of an inference request: a readable one must read back after its tensors are
// written. The first two bytes are the size of the JSON, if the body has tensors as bytes.
#include <cstring>

#include "base/check.h"
#include "seeds.h"
#include "serve/core/json_codec.h"

using namespace lemma;
using namespace lemma::serve;

namespace {

std::string with_size(size_t size, const std::string& body) {
    std::string bytes(2, '\0');
    bytes[0] = static_cast<char>(size & 0xFF);
    bytes[1] = static_cast<char>(size >> 8 & 0xFF);
    return bytes + body;
}

// The answer with these tensors, as a request.
std::optional<EncodedResponse> encode(const std::vector<TensorValue>& tensors, bool binary) {
    InferResponse response{.model = "m", .version = "1"};
    response.outputs = tensors;
    response.binary.assign(tensors.size(), binary);
    auto encoded = encode_response(response);
    if (!encoded) return std::nullopt;
    const size_t at = encoded->body.find("\"outputs\":[");
    encoded->body.replace(at, 9, "\"inputs\"");
    if (encoded->json_size) --*encoded->json_size;
    return *encoded;
}

bool same(const std::vector<TensorValue>& a, const std::vector<TensorValue>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
        const bool equal = a[i].name == b[i].name && a[i].type == b[i].type &&
                           a[i].shape == b[i].shape && a[i].strings == b[i].strings &&
                           a[i].size == b[i].size &&
                           (a[i].size == 0 || std::memcmp(a[i].data, b[i].data, a[i].size) == 0);
        if (!equal) return false;
    }
    return true;
}

}  // namespace

std::string lemma::fuzz::make_seed(std::mt19937& random) {
    constexpr std::array kTypes = {
        LEMMA_F32, LEMMA_F64, LEMMA_I8, LEMMA_I64, LEMMA_U16, LEMMA_BOOL};
    std::vector<TensorValue> tensors(1 + random() % 3);
    std::vector<std::string> memory(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
        TensorValue& tensor = tensors[i];
        tensor.name = std::string(1, static_cast<char>('a' + i));
        tensor.type = kTypes[random() % kTypes.size()];
        tensor.shape.assign(random() % 3, 1 + static_cast<int64_t>(random() % 3));
        memory[i].assign(static_cast<size_t>(*byte_size(tensor.type, tensor.shape)), '\1');
        tensor.data = memory[i].data();
        tensor.size = memory[i].size();
    }
    const auto encoded = encode(tensors, random() % 2 == 0);
    return with_size(encoded->json_size.value_or(0), encoded->body);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 2) return 0;
    const size_t json_size = data[0] | static_cast<size_t>(data[1]) << 8;
    const auto body =
        std::make_shared<const std::string>(reinterpret_cast<const char*>(data) + 2, size - 2);
    const auto request =
        decode_request(body, json_size == 0 ? std::nullopt : std::optional(json_size));
    if (!request) return 0;
    for (const TensorValue& tensor : request->inputs) {
        // Elements of bytes are counted when they meet a model.
        const auto bytes = byte_size(tensor.type, tensor.shape);
        const bool fits =
            tensor.type == LEMMA_STR || (bytes && static_cast<size_t>(*bytes) == tensor.size);
        if (!fits || tensor.type == LEMMA_BOOL) return 0;  // any byte but 0 is true
    }
    for (const bool binary : {false, true}) {
        const auto encoded = encode(request->inputs, binary);
        if (!encoded) continue;
        const auto again =
            decode_request(std::make_shared<const std::string>(encoded->body), encoded->json_size);
        LEMMA_CHECK(again || !binary);
        // Strings of bytes need not be UTF-8, and their number may differ from the shape's.
        if (again) LEMMA_CHECK(same(again->inputs, request->inputs));
    }
    return 0;
}
