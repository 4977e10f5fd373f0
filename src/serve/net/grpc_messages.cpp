// SPDX-License-Identifier: Apache-2.0
#include "serve/net/grpc_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include <inference.pb.h>

namespace lemma::serve {

namespace {

using inference::InferTensorContents;

std::unexpected<Failure> bad_contents(const TensorValue& value, std::string_view what) {
    return fails(Code::Invalid, fmt::format("the contents of `{}` {}", value.name, what));
}

// Copies the elements of a field, each of which must fit into the type.
template <class T, class Field>
Answer<void> take(const Field& field, TensorValue& value) {
    auto numbers = std::make_shared<std::vector<T>>();
    numbers->reserve(static_cast<size_t>(field.size()));
    for (const auto element : field) {
        const auto number = static_cast<T>(element);
        if constexpr (std::is_integral_v<T>) {
            if (static_cast<decltype(element)>(number) != element) {
                return bad_contents(value, "have numbers that are too large for the datatype");
            }
        }
        numbers->push_back(number);
    }
    value.data = numbers->data();
    value.size = numbers->size() * sizeof(T);
    value.owner = std::move(numbers);
    return {};
}

Answer<void> take_contents(const InferTensorContents& contents, TensorValue& value) {
    switch (value.type) {
        case LEMMA_BOOL:
            return take<uint8_t>(contents.bool_contents(), value);
        case LEMMA_I8:
            return take<int8_t>(contents.int_contents(), value);
        case LEMMA_I16:
            return take<int16_t>(contents.int_contents(), value);
        case LEMMA_I32:
            return take<int32_t>(contents.int_contents(), value);
        case LEMMA_I64:
            return take<int64_t>(contents.int64_contents(), value);
        case LEMMA_U8:
            return take<uint8_t>(contents.uint_contents(), value);
        case LEMMA_U16:
            return take<uint16_t>(contents.uint_contents(), value);
        case LEMMA_U32:
            return take<uint32_t>(contents.uint_contents(), value);
        case LEMMA_U64:
            return take<uint64_t>(contents.uint64_contents(), value);
        case LEMMA_F32:
            return take<float>(contents.fp32_contents(), value);
        case LEMMA_F64:
            return take<double>(contents.fp64_contents(), value);
        case LEMMA_STR:
            value.strings.assign(contents.bytes_contents().begin(),
                                 contents.bytes_contents().end());
            return {};
        default:
            return bad_contents(value,
                                fmt::format("cannot have the datatype {}; use raw_input_contents",
                                            datatype_name(value.type)));
    }
}

Answer<void> take_raw(const std::string& bytes, TensorValue& value) {
    if (value.type == LEMMA_STR) {
        auto strings = bytes_as_strings(bytes);
        if (!strings) return std::unexpected(strings.error());
        value.strings = std::move(*strings);
        return {};
    }
    value.data = bytes.data();
    value.size = bytes.size();
    return {};
}

template <class T, class Field>
void put(const TensorValue& value, Field* field) {
    const auto* const numbers = static_cast<const T*>(value.data);
    field->Add(numbers, numbers + value.size / sizeof(T));
}

void put_contents(const TensorValue& value, InferTensorContents& contents) {
    switch (value.type) {
        case LEMMA_BOOL:
            return put<uint8_t>(value, contents.mutable_bool_contents());
        case LEMMA_I8:
            return put<int8_t>(value, contents.mutable_int_contents());
        case LEMMA_I16:
            return put<int16_t>(value, contents.mutable_int_contents());
        case LEMMA_I32:
            return put<int32_t>(value, contents.mutable_int_contents());
        case LEMMA_I64:
            return put<int64_t>(value, contents.mutable_int64_contents());
        case LEMMA_U8:
            return put<uint8_t>(value, contents.mutable_uint_contents());
        case LEMMA_U16:
            return put<uint16_t>(value, contents.mutable_uint_contents());
        case LEMMA_U32:
            return put<uint32_t>(value, contents.mutable_uint_contents());
        case LEMMA_U64:
            return put<uint64_t>(value, contents.mutable_uint64_contents());
        case LEMMA_F32:
            return put<float>(value, contents.mutable_fp32_contents());
        case LEMMA_F64:
            return put<double>(value, contents.mutable_fp64_contents());
        case LEMMA_STR:
            for (const std::string& text : value.strings) contents.add_bytes_contents(text);
            return;
        default:
            return;
    }
}

}  // namespace

Answer<InferRequest> from_message(const inference::ModelInferRequest& message) {
    InferRequest request;
    request.model = message.model_name();
    request.version = message.model_version();
    request.id = message.id();
    const bool raw = message.raw_input_contents_size() > 0;
    if (raw && message.raw_input_contents_size() != message.inputs_size()) {
        return fails(Code::Invalid,
                     fmt::format("there are {} inputs, but {} raw_input_contents",
                                 message.inputs_size(),
                                 message.raw_input_contents_size()));
    }
    for (int i = 0; i < message.inputs_size(); ++i) {
        const auto& input = message.inputs(i);
        TensorValue value{.name = input.name(), .type = datatype_from_name(input.datatype())};
        value.shape.assign(input.shape().begin(), input.shape().end());
        if (value.type == LEMMA_NO_TYPE) {
            return fails(
                Code::Invalid,
                fmt::format(
                    "the input `{}` has the unknown datatype `{}`", value.name, input.datatype()));
        }
        if (raw && input.has_contents()) {
            return bad_contents(value, "are given beside raw_input_contents");
        }
        auto done = raw ? take_raw(message.raw_input_contents(i), value)
                        : take_contents(input.contents(), value);
        if (!done) return std::unexpected(done.error());
        request.inputs.push_back(std::move(value));
    }
    for (const auto& output : message.outputs()) request.outputs.push_back({output.name(), true});
    request.binary_outputs = true;
    if (const auto timeout = message.parameters().find("timeout");
        timeout != message.parameters().end() && timeout->second.int64_param() > 0) {
        constexpr int64_t kDay = int64_t{24} * 3600 * 1000000;
        request.deadline =
            Clock::now() + std::chrono::microseconds(std::min(timeout->second.int64_param(), kDay));
    }
    return request;
}

void to_message(const InferResponse& response, bool raw, inference::ModelInferResponse& message) {
    message.set_model_name(response.model);
    message.set_model_version(response.version);
    message.set_id(response.id);
    // Half precision has no field.
    const bool all_raw = raw || std::ranges::any_of(response.outputs, [](const TensorValue& value) {
                             return value.type == LEMMA_F16 || value.type == LEMMA_BF16;
                         });
    for (const TensorValue& value : response.outputs) {
        auto& output = *message.add_outputs();
        output.set_name(value.name);
        output.set_datatype(std::string(datatype_name(value.type)));
        for (const int64_t extent : value.shape) output.add_shape(extent);
        if (!all_raw) {
            put_contents(value, *output.mutable_contents());
        } else if (value.type == LEMMA_STR) {
            message.add_raw_output_contents(strings_as_bytes(value.strings));
        } else {
            message.add_raw_output_contents(value.data, value.size);
        }
    }
}

void to_message(const ModelMetadata& metadata, inference::ModelMetadataResponse& message) {
    message.set_name(metadata.name);
    message.set_platform(metadata.platform);
    for (const std::string& version : metadata.versions) message.add_versions(version);
    const auto put_tensor = [](const TensorMetadata& tensor, auto& to) {
        to.set_name(tensor.name);
        to.set_datatype(std::string(datatype_name(tensor.type)));
        for (const int64_t extent : tensor.shape) to.add_shape(extent);
    };
    for (const TensorMetadata& tensor : metadata.inputs) put_tensor(tensor, *message.add_inputs());
    for (const TensorMetadata& tensor : metadata.outputs) {
        put_tensor(tensor, *message.add_outputs());
    }
}

}  // namespace lemma::serve
