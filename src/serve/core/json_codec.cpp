// SPDX-License-Identifier: Apache-2.0
#include "serve/core/json_codec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>

#include "serve/core/json_numbers.h"
#include "serve/core/json_reader.h"

namespace lemma::serve {

namespace {

constexpr size_t kMaxRank = 64;
constexpr size_t kMaxTensors = 4096;

// The parameters that the server knows; others are ignored, as the protocol says.
struct Parameters {
    std::optional<int64_t> binary_data_size;
    bool binary_data = false;
    bool binary_data_output = false;
    std::optional<int64_t> timeout;  // microseconds
};

Parameters read_parameters(JsonReader& reader) {
    Parameters parameters;
    for (bool more = reader.first('{', '}'); more; more = reader.next('}')) {
        const std::string key = reader.key();
        if (key == "binary_data_size") {
            parameters.binary_data_size = reader.integer();
        } else if (key == "binary_data") {
            parameters.binary_data = reader.boolean();
        } else if (key == "binary_data_output") {
            parameters.binary_data_output = reader.boolean();
        } else if (key == "timeout") {
            parameters.timeout = reader.integer();
        } else {
            reader.skip();
        }
    }
    return parameters;
}

Shape read_shape(JsonReader& reader) {
    Shape shape;
    for (bool more = reader.first('[', ']'); more; more = reader.next(']')) {
        shape.push_back(reader.integer());
        if (shape.back() < 0) reader.fail("an extent is negative");
        if (shape.size() > kMaxRank) reader.fail("a tensor has too many axes");
    }
    return shape;
}

// An input as it is written; its data is read when its type and shape are known.
struct WrittenInput {
    TensorValue value;
    std::string datatype;
    bool has_shape = false;
    std::string_view data;
    std::optional<int64_t> bytes;
};

WrittenInput read_input(JsonReader& reader) {
    WrittenInput input;
    for (bool more = reader.first('{', '}'); more; more = reader.next('}')) {
        const std::string key = reader.key();
        if (key == "name") {
            input.value.name = reader.string();
        } else if (key == "shape") {
            input.value.shape = read_shape(reader);
            input.has_shape = true;
        } else if (key == "datatype") {
            input.datatype = reader.string();
        } else if (key == "data") {
            input.data = reader.array_text();
        } else if (key == "parameters") {
            input.bytes = read_parameters(reader).binary_data_size;
        } else {
            reader.skip();
        }
    }
    return input;
}

RequestedOutput read_output(JsonReader& reader) {
    RequestedOutput output;
    for (bool more = reader.first('{', '}'); more; more = reader.next('}')) {
        const std::string key = reader.key();
        if (key == "name") {
            output.name = reader.string();
        } else if (key == "parameters") {
            output.binary = read_parameters(reader).binary_data;
        } else {
            reader.skip();
        }
    }
    return output;
}

struct WrittenRequest {
    InferRequest request;
    std::vector<WrittenInput> inputs;
};

void read_request(JsonReader& reader, WrittenRequest& written) {
    InferRequest& request = written.request;
    bool has_inputs = false;
    for (bool more = reader.first('{', '}'); more; more = reader.next('}')) {
        const std::string key = reader.key();
        if (key == "id") {
            request.id = reader.string();
        } else if (key == "parameters") {
            const Parameters parameters = read_parameters(reader);
            request.binary_outputs = parameters.binary_data_output;
            const int64_t timeout = parameters.timeout.value_or(0);
            constexpr int64_t kDay = int64_t{24} * 3600 * 1000000;
            if (timeout < 0) reader.fail("`timeout` is negative");
            if (timeout > 0) {
                request.deadline =
                    Clock::now() + std::chrono::microseconds(std::min(timeout, kDay));
            }
        } else if (key == "inputs") {
            has_inputs = true;
            for (bool item = reader.first('[', ']'); item; item = reader.next(']')) {
                written.inputs.push_back(read_input(reader));
                if (written.inputs.size() > kMaxTensors) reader.fail("too many inputs");
            }
        } else if (key == "outputs") {
            for (bool item = reader.first('[', ']'); item; item = reader.next(']')) {
                request.outputs.push_back(read_output(reader));
                if (request.outputs.size() > kMaxTensors) reader.fail("too many outputs");
            }
        } else {
            reader.skip();
        }
    }
    reader.end();
    if (!has_inputs) reader.fail("there are no `inputs`");
}

// The bytes of an input from those after the JSON, of which they are removed.
Answer<void> take_bytes(WrittenInput& input,
                        const std::shared_ptr<const std::string>& body,
                        std::string_view& bytes) {
    TensorValue& value = input.value;
    if (!input.data.empty()) {
        return fails(Code::Invalid,
                     fmt::format("the input `{}` has both data and bytes", value.name));
    }
    if (*input.bytes < 0 || static_cast<uint64_t>(*input.bytes) > bytes.size()) {
        return fails(Code::Invalid,
                     fmt::format("the input `{}` has {} bytes, but only {} are left in the body",
                                 value.name,
                                 *input.bytes,
                                 bytes.size()));
    }
    const std::string_view own = bytes.substr(0, static_cast<size_t>(*input.bytes));
    bytes.remove_prefix(own.size());
    if (value.type == LEMMA_STR) {
        auto strings = bytes_as_strings(own);
        if (!strings) return std::unexpected(strings.error());
        value.strings = std::move(*strings);
        return {};
    }
    value.data = own.data();
    value.size = own.size();
    value.owner = body;
    return {};
}

Answer<void> complete_input(WrittenInput& input,
                            const std::shared_ptr<const std::string>& body,
                            std::string_view& bytes) {
    TensorValue& value = input.value;
    if (value.name.empty()) return fails(Code::Invalid, "an input has no `name`");
    if (input.datatype.empty() || !input.has_shape) {
        return fails(
            Code::Invalid,
            fmt::format("the input `{}` needs both a `datatype` and a `shape`", value.name));
    }
    value.type = datatype_from_name(input.datatype);
    if (value.type == LEMMA_NO_TYPE) {
        return fails(Code::Invalid,
                     fmt::format("the input `{}` has the unknown datatype `{}`",
                                 value.name,
                                 input.datatype.substr(0, 40)));
    }
    if (input.bytes) return take_bytes(input, body, bytes);
    if (input.data.empty()) {
        return fails(Code::Invalid,
                     fmt::format("the input `{}` has neither `data` nor bytes", value.name));
    }
    return read_elements(input.data, value);
}

}  // namespace

Answer<InferRequest> decode_request(std::shared_ptr<const std::string> body,
                                    std::optional<size_t> json_size) {
    const size_t size = json_size.value_or(body->size());
    if (size > body->size()) {
        return fails(Code::Invalid,
                     fmt::format("Inference-Header-Content-Length is {}, but the body has {} bytes",
                                 size,
                                 body->size()));
    }
    JsonReader reader(std::string_view(*body).substr(0, size));
    WrittenRequest written;
    read_request(reader, written);
    if (reader.failed()) return std::unexpected(reader.failure());
    std::string_view bytes = std::string_view(*body).substr(size);
    for (WrittenInput& input : written.inputs) {
        if (auto done = complete_input(input, body, bytes); !done) {
            return std::unexpected(done.error());
        }
        written.request.inputs.push_back(std::move(input.value));
    }
    if (!bytes.empty()) {
        return fails(Code::Invalid,
                     fmt::format("{} bytes after the JSON belong to no input; "
                                 "Inference-Header-Content-Length is the size of the JSON",
                                 bytes.size()));
    }
    return std::move(written.request);
}

Answer<EncodedResponse> encode_response(const InferResponse& response) {
    EncodedResponse encoded;
    std::string bytes;
    bool binary = false;
    std::string& json = encoded.body;
    json = fmt::format("{{\"model_name\":{},\"model_version\":{}",
                       json_string(response.model),
                       json_string(response.version));
    if (!response.id.empty()) json += fmt::format(",\"id\":{}", json_string(response.id));
    json += ",\"outputs\":[";
    for (size_t i = 0; i < response.outputs.size(); ++i) {
        const TensorValue& output = response.outputs[i];
        json += fmt::format("{}{{\"name\":{},\"datatype\":\"{}\",\"shape\":{}",
                            i == 0 ? "" : ",",
                            json_string(output.name),
                            datatype_name(output.type),
                            shape_text(output.shape));
        if (response.binary[i]) {
            const size_t before = bytes.size();
            if (output.type == LEMMA_STR) {
                bytes += strings_as_bytes(output.strings);
            } else {
                bytes.append(static_cast<const char*>(output.data), output.size);
            }
            json +=
                fmt::format(",\"parameters\":{{\"binary_data_size\":{}}}}}", bytes.size() - before);
            binary = true;
            continue;
        }
        json += ",\"data\":";
        if (auto done = write_elements(output, json); !done) return std::unexpected(done.error());
        json += "}";
    }
    json += "]}";
    if (binary) encoded.json_size = json.size();
    json += bytes;
    return encoded;
}

std::string encode_error(std::string_view message) {
    return fmt::format("{{\"error\":{}}}", json_string(message));
}

std::string encode_metadata(const ModelMetadata& metadata) {
    const auto tensors = [](const std::vector<TensorMetadata>& list) {
        std::string text;
        for (const TensorMetadata& tensor : list) {
            text += fmt::format("{}{{\"name\":{},\"datatype\":\"{}\",\"shape\":{}}}",
                                text.empty() ? "" : ",",
                                json_string(tensor.name),
                                datatype_name(tensor.type),
                                shape_text(tensor.shape));
        }
        return text;
    };
    std::vector<std::string> versions;
    for (const std::string& version : metadata.versions) versions.push_back(json_string(version));
    return fmt::format(
        "{{\"name\":{},\"versions\":[{}],\"platform\":{},\"inputs\":[{}],\"outputs\":[{}]}}",
        json_string(metadata.name),
        fmt::join(versions, ","),
        json_string(metadata.platform),
        tensors(metadata.inputs),
        tensors(metadata.outputs));
}

}  // namespace lemma::serve
