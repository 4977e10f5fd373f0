// SPDX-License-Identifier: Apache-2.0
#include "onnx/external.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "base/check.h"
#include "onnx/fields.h"

namespace lemma::onnx {

namespace {

// Smaller tensors are mostly shapes, which tools should see without the second file.
constexpr size_t kMinBytes = 1024;
// Readers map files by pages.
constexpr int64_t kAlignment = 4096;
constexpr int64_t kExternal = 1;  // of the field Location

using tensor::WireWriter;

// Elements as bytes, as large tensors store them.
std::optional<std::string_view> raw_elements(const TensorData& data) {
    if (data.proto.external) return std::nullopt;
    tensor::WireReader reader(data.proto.message.bytes());
    tensor::WireField field;
    for (auto more = reader.next(field); more && *more; more = reader.next(field)) {
        if (field.number != tensor_field::Raw) continue;
        const auto bytes = tensor::wire_bytes(field);
        if (bytes) return *bytes;
    }
    return std::nullopt;
}

void put_entry(const std::string& key, const std::string& value, WireWriter& message) {
    WireWriter entry;
    entry.put_bytes(property_field::Key, key);
    entry.put_bytes(property_field::Value, value);
    message.put_bytes(tensor_field::External, entry.bytes());
}

TensorData refer_to(const std::string& location,
                    const tensor::FilePart& part,
                    const TensorData& data,
                    Model& model) {
    WireWriter message;
    for (const int64_t extent : data.proto.shape) message.put_int(tensor_field::Dims, extent);
    message.put_int(tensor_field::Type, data.proto.data_type);
    message.put_bytes(tensor_field::Name, data.proto.name);
    put_entry("location", location, message);
    put_entry("offset", fmt::format("{}", part.begin), message);
    put_entry("length", fmt::format("{}", part.bytes.size()), message);
    message.put_int(tensor_field::Location, kExternal);
    auto bytes = std::make_shared<const std::string>(message.take());
    auto proto = tensor::read_tensor_proto(tensor::WireReader(*bytes));
    LEMMA_CHECK(proto.has_value());
    model.added_bytes.push_back(std::move(bytes));
    TensorData result;
    result.proto = std::move(*proto);
    result.place = data.place;
    return result;
}

}  // namespace

int64_t tensor_bytes(const Model& model) {
    int64_t sum = 0;
    for (const Graph& graph : model.graphs) {
        for (const TensorData& data : graph.initializers)
            sum += static_cast<int64_t>(data.proto.message.bytes().size());
    }
    return sum;
}

std::vector<tensor::FilePart> move_out(const std::string& location, Model& model) {
    std::vector<tensor::FilePart> parts;
    int64_t end = 0;
    for (Graph& graph : model.graphs) {
        for (TensorData& data : graph.initializers) {
            const auto elements = raw_elements(data);
            if (!elements || elements->size() < kMinBytes) continue;
            const int64_t begin = (end + kAlignment - 1) / kAlignment * kAlignment;
            parts.push_back({begin, *elements});
            end = begin + static_cast<int64_t>(elements->size());
            data = refer_to(location, parts.back(), data, model);
        }
    }
    return parts;
}

}  // namespace lemma::onnx
