// SPDX-License-Identifier: Apache-2.0
#include "sonnx/defaults.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "sonnx/operators.h"

namespace lemma::sonnx {

namespace {

using onnx::AttributeDefault;
using onnx::Computed;

std::optional<onnx::Attribute> computed(const AttributeDefault& row,
                                        Computed how,
                                        const onnx::Node& node,
                                        const View& view) {
    if (how == Computed::ZeroTensor) return std::nullopt;
    const bool from_weights = how == Computed::KernelShape;
    const auto shape = view.input_shape(node, from_weights ? 1 : 0);
    if (!shape) return std::nullopt;
    const size_t rank = shape->size();
    if (how == Computed::Reversed) {
        std::vector<int64_t> axes(rank);
        std::iota(axes.rbegin(), axes.rend(), 0);
        return make_ints(row.name, std::move(axes));
    }
    if (rank < 3) return std::nullopt;
    const size_t spatial = rank - 2;
    switch (how) {
        case Computed::KernelShape:
            return make_ints(row.name, {shape->begin() + 2, shape->end()});
        case Computed::Ones:
            return make_ints(row.name, std::vector<int64_t>(spatial, 1));
        case Computed::Zeros:
            return make_ints(row.name, std::vector<int64_t>(spatial, 0));
        default:
            return make_ints(row.name, std::vector<int64_t>(2 * spatial, 0));
    }
}

std::optional<onnx::Attribute> value_of(const AttributeDefault& row,
                                        const onnx::Node& node,
                                        const View& view) {
    if (const auto* integer = std::get_if<int64_t>(&row.value)) return make_int(row.name, *integer);
    if (const auto* real = std::get_if<float>(&row.value)) return make_float(row.name, *real);
    if (const auto* text = std::get_if<std::string_view>(&row.value))
        return make_text(row.name, std::string(*text));
    return computed(row, std::get<Computed>(row.value), node, view);
}

// Padding that something else decides has no default of its own.
bool is_decided_elsewhere(const AttributeDefault& row, const onnx::Node& node) {
    if (row.name != "pads") return false;
    const auto mode = text_attribute(node, "auto_pad");
    return (mode && *mode != "NOTSET") || onnx::find_attribute(node, "output_shape");
}

onnx::Attribute make(std::string_view name, onnx::AttributeType type) {
    onnx::Attribute attribute;
    attribute.name = name;
    attribute.type = type;
    return attribute;
}

}  // namespace

std::vector<MissingAttribute> missing_attributes(const onnx::Node& node, const View& view) {
    std::vector<MissingAttribute> missing;
    const onnx::Operator* const op = profile_operator(node.op);
    if (!op || !onnx::is_default_domain(node.domain)) return missing;
    for (const AttributeDefault& row : op->attributes) {
        if (view.opset() < row.since || view.opset() > row.until) continue;
        if (std::holds_alternative<std::monostate>(row.value)) continue;
        if (onnx::find_attribute(node, row.name) || is_decided_elsewhere(row, node)) continue;
        missing.push_back({row.name, value_of(row, node, view)});
    }
    return missing;
}

std::string value_text(const onnx::Attribute& attribute) {
    switch (attribute.type) {
        case onnx::AttributeType::Int:
            return fmt::format("{}", fmt::join(attribute.ints, ", "));
        case onnx::AttributeType::Float:
            return fmt::format("{}", fmt::join(attribute.floats, ", "));
        case onnx::AttributeType::String:
            return fmt::format("{}", fmt::join(attribute.strings, ", "));
        default:
            return fmt::format("[{}]", fmt::join(attribute.ints, ", "));
    }
}

onnx::Attribute make_int(std::string_view name, int64_t value) {
    onnx::Attribute attribute = make(name, onnx::AttributeType::Int);
    attribute.ints = {value};
    return attribute;
}
onnx::Attribute make_ints(std::string_view name, std::vector<int64_t> values) {
    onnx::Attribute attribute = make(name, onnx::AttributeType::Ints);
    attribute.ints = std::move(values);
    return attribute;
}
onnx::Attribute make_float(std::string_view name, float value) {
    onnx::Attribute attribute = make(name, onnx::AttributeType::Float);
    attribute.floats = {value};
    return attribute;
}
onnx::Attribute make_text(std::string_view name, std::string value) {
    onnx::Attribute attribute = make(name, onnx::AttributeType::String);
    attribute.strings = {std::move(value)};
    return attribute;
}

}  // namespace lemma::sonnx
