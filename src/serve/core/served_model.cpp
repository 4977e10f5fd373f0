// SPDX-License-Identifier: Apache-2.0
#include "serve/core/served_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "serve/core/runner.h"

namespace lemma::serve {

namespace {

std::vector<TensorMetadata> declared(const lemma_model* model, int group) {
    std::vector<TensorMetadata> tensors;
    for (size_t i = 0; i < lemma_count(model, group); ++i) {
        const lemma_tensor_info* const info = lemma_info(model, group, i);
        TensorMetadata tensor{.name = info->name, .type = info->type};
        tensor.shape.assign(info->shape, info->shape + info->rank);
        tensor.bounds.assign(info->bounds, info->bounds + info->rank);
        if (info->rank > 0) tensor.leading = info->extents[0];
        tensor.optional = info->optional != 0;
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

std::vector<std::string> names_of(const std::vector<TensorMetadata>& tensors) {
    std::vector<std::string> names;
    for (const TensorMetadata& tensor : tensors) names.push_back(tensor.name);
    return names;
}

// Whether every tensor has numbers, and the same unknown extent as its first one.
bool can_join(const std::vector<TensorMetadata>& inputs,
              const std::vector<TensorMetadata>& outputs) {
    if (inputs.empty() || outputs.empty()) return false;
    const auto fits = [&](const TensorMetadata& tensor) {
        return !tensor.shape.empty() && tensor.shape[0] == -1 && !tensor.optional &&
               tensor.type != LEMMA_STR && tensor.leading == inputs[0].leading;
    };
    return std::ranges::all_of(inputs, fits) && std::ranges::all_of(outputs, fits);
}

// The engine keeps the code of four sets of extents, so there are at most four sizes with 1.
std::vector<int64_t> sizes_to_try(int64_t most) {
    std::vector<int64_t> sizes;
    for (const int64_t part : {4, 2, 1}) {
        const int64_t size = most / part;
        if (size > 1 && (sizes.empty() || sizes.back() != size)) sizes.push_back(size);
    }
    return sizes;
}

constexpr int64_t kUnknownExtent = 8;  // of axes besides the first, in measurements

}  // namespace

ServedModel::ServedModel(ModelHandle model)
    : model_(std::move(model)),
      inputs_(declared(model_.get(), LEMMA_INPUTS)),
      outputs_(declared(model_.get(), LEMMA_OUTPUTS)) {
    for (size_t i = 0; i < lemma_count(model_.get(), LEMMA_VARIABLES); ++i) {
        changes_ = changes_ || lemma_info(model_.get(), LEMMA_VARIABLES, i)->updated != 0;
    }
    joining_.possible = !changes_ && can_join(inputs_, outputs_);
}

std::expected<std::unique_ptr<ServedModel>, ServedModel::LoadFailure> ServedModel::load(
    const std::string& path, const ModelOptions& options, lemma_stop* stop) {
    lemma_control control = {};
    control.struct_size = sizeof control;
    control.stop = stop;
    std::vector<const char*> attributes;
    for (const std::string& attribute : options.attributes) attributes.push_back(attribute.c_str());
    lemma_load_options load = {};
    load.struct_size = sizeof load;
    load.graph = options.graph.empty() ? nullptr : options.graph.c_str();
    load.attributes = attributes.data();
    load.attribute_count = attributes.size();
    load.real = options.real;
    load.quantize = options.quantize ? 1 : 0;
    load.random_weights = options.random_weights ? 1 : 0;
    load.weights_seed = options.random_weights.value_or(0);
    load.weights = options.weights.empty() ? nullptr : options.weights.c_str();
    load.engine = options.engine;
    load.numerics = options.numerics;
    load.accumulate_f32 = options.accumulate_f32 ? 1 : 0;
    load.target = options.target.empty() ? nullptr : options.target.c_str();
    load.cache = options.cache ? options.cache->c_str() : nullptr;
    load.control = &control;
    lemma_model* model = nullptr;
    lemma_report* report = nullptr;
    const int status = lemma_load(path.c_str(), &load, &model, &report);
    const ReportHandle owned(report);
    ModelHandle handle(model);
    if (status != LEMMA_GOOD) {
        return std::unexpected(LoadFailure{status, lemma_report_text(report)});
    }
    return std::unique_ptr<ServedModel>(new ServedModel(std::move(handle)));
}

std::string ServedModel::platform() const {
    return fmt::format("lemma_{}", lemma_model_format(model_.get()));
}

Answer<void> ServedModel::check_input(const TensorMetadata& declared,
                                      const TensorValue& given) const {
    if (given.type != declared.type) {
        return fails(Code::Invalid,
                     fmt::format("the input `{}` is {}, but the model wants {}",
                                 given.name,
                                 datatype_name(given.type),
                                 datatype_name(declared.type)));
    }
    bool fits = given.shape.size() == declared.shape.size();
    for (size_t i = 0; fits && i < given.shape.size(); ++i) {
        const int64_t bound = declared.bounds[i];
        fits = declared.shape[i] == -1 ? bound < 0 || given.shape[i] <= bound
                                       : given.shape[i] == declared.shape[i];
    }
    const auto count = volume(given.shape);
    if (!fits || !count) {
        return fails(Code::Invalid,
                     fmt::format("the input `{}` has the shape {}, but the model wants {}",
                                 given.name,
                                 shape_text(given.shape),
                                 shape_text(declared.shape)));
    }
    const bool strings = given.type == LEMMA_STR;
    const auto wanted = strings ? count : byte_size(given.type, given.shape);
    const size_t size = strings ? given.strings.size() : given.size;
    if (!wanted || static_cast<size_t>(*wanted) != size) {
        return fails(Code::Invalid,
                     fmt::format("the input `{}` of type {} and shape {} has {} {}",
                                 given.name,
                                 datatype_name(given.type),
                                 shape_text(given.shape),
                                 size,
                                 strings ? "strings" : "bytes"));
    }
    const bool zero_inside = std::ranges::any_of(given.strings, [](const std::string& text) {
        return text.find('\0') != std::string::npos;
    });
    if (zero_inside) {
        return fails(Code::Invalid,
                     fmt::format("a string of the input `{}` has a zero byte", given.name));
    }
    return {};
}

Answer<std::vector<const TensorValue*>> ServedModel::order_inputs(
    const InferRequest& request) const {
    std::vector<const TensorValue*> ordered(inputs_.size(), nullptr);
    for (const TensorValue& given : request.inputs) {
        const auto found = std::ranges::find(inputs_, given.name, &TensorMetadata::name);
        if (found == inputs_.end()) {
            return fails(Code::Invalid,
                         fmt::format("the model has no input `{}`; it has `{}`",
                                     given.name,
                                     fmt::join(names_of(inputs_), "`, `")));
        }
        const TensorValue*& place = ordered[static_cast<size_t>(found - inputs_.begin())];
        if (place) {
            return fails(Code::Invalid, fmt::format("the input `{}` is given twice", given.name));
        }
        if (auto done = check_input(*found, given); !done) return std::unexpected(done.error());
        place = &given;
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
        if (ordered[i] || inputs_[i].optional) continue;
        return fails(Code::Invalid, fmt::format("the input `{}` is missing", inputs_[i].name));
    }
    return ordered;
}

Answer<std::vector<std::pair<size_t, bool>>> ServedModel::order_outputs(
    const InferRequest& request) const {
    std::vector<std::pair<size_t, bool>> wanted;
    for (const RequestedOutput& output : request.outputs) {
        const auto found = std::ranges::find(outputs_, output.name, &TensorMetadata::name);
        if (found == outputs_.end()) {
            return fails(Code::Invalid,
                         fmt::format("the model has no output `{}`; it has `{}`",
                                     output.name,
                                     fmt::join(names_of(outputs_), "`, `")));
        }
        wanted.emplace_back(static_cast<size_t>(found - outputs_.begin()),
                            output.binary || request.binary_outputs);
    }
    for (size_t i = 0; i < outputs_.size() && request.outputs.empty(); ++i) {
        wanted.emplace_back(i, request.binary_outputs);
    }
    return wanted;
}

std::vector<TensorValue> random_inputs(const ServedModel& model, int64_t items, uint64_t seed) {
    std::vector<TensorValue> values;
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    const auto next = [&] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return state >> 33;
    };
    for (const TensorMetadata& input : model.inputs()) {
        TensorValue value{.name = input.name, .type = input.type, .shape = input.shape};
        for (size_t i = 0; i < value.shape.size(); ++i) {
            if (value.shape[i] != -1) continue;
            const int64_t bound = input.bounds[i] < 0 ? kUnknownExtent : input.bounds[i];
            value.shape[i] = i == 0 ? items : std::min(bound, kUnknownExtent);
        }
        const auto count = volume(value.shape);
        const auto bytes = byte_size(value.type, value.shape);
        if (!count || !bytes || value.type == LEMMA_STR || input.optional) return {};
        auto memory = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(*bytes));
        const auto width = static_cast<size_t>(element_size(value.type));
        for (int64_t i = 0; i < *count; ++i) {
            std::byte* const to = memory->data() + static_cast<size_t>(i) * width;
            const double unit = static_cast<double>(next()) / static_cast<double>(1u << 31);
            if (value.type == LEMMA_F32) {
                const auto number = static_cast<float>(unit);
                std::memcpy(to, &number, sizeof number);
            } else if (value.type == LEMMA_F64) {
                std::memcpy(to, &unit, sizeof unit);
            } else if (value.type == LEMMA_F16) {
                const uint16_t bits = static_cast<uint16_t>(0x3800 + (next() & 0x3FF));  // 0.5 to 1
                std::memcpy(to, &bits, sizeof bits);
            } else if (value.type == LEMMA_BF16) {
                const uint16_t bits = static_cast<uint16_t>(0x3F00 + (next() & 0x7F));  // 0.5 to 1
                std::memcpy(to, &bits, sizeof bits);
            } else {
                *to = static_cast<std::byte>(next() & 1);  // little-endian
            }
        }
        value.data = memory->data();
        value.size = memory->size();
        value.owner = std::move(memory);
        values.push_back(std::move(value));
    }
    return values;
}

Answer<SessionHandle> open_session(const ServedModel& model, int threads) {
    lemma_session_options options = {};
    options.struct_size = sizeof options;
    options.threads = threads;
    lemma_session* session = nullptr;
    lemma_report* report = nullptr;
    const int status = lemma_session_create(model.handle(), &options, &session, &report);
    const ReportHandle owned(report);
    if (status != LEMMA_GOOD) return fails(Code::Internal, lemma_report_text(report));
    return SessionHandle(session);
}

void ServedModel::prepare(int64_t most, lemma_stop* stop) {
    const std::vector<int64_t> sizes =
        joining_.possible ? sizes_to_try(most) : std::vector<int64_t>();
    const Measured measured = measure_sizes(*this, sizes, stop);
    joining_.sizes = measured.faster;
    remark_ = measured.remark;
}

}  // namespace lemma::serve
