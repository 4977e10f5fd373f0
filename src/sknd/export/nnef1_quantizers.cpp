// SPDX-License-Identifier: Apache-2.0
// The quantization of graph.quant: the module `nnef1.quantizers` rounds as NNEF 1.0 does.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sknd/export/writer.h"

namespace lemma::sknd {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kQuantizers = {
    {{"nnef1.min_max_linear_quantize", "nnef1.quantizers.min_max_linear"},
     {"nnef1.linear_quantize", "nnef1.quantizers.min_max_linear"},
     {"nnef1.zero_point_linear_quantize", "nnef1.quantizers.zero_point_linear"},
     {"nnef1.logarithmic_quantize", "nnef1.quantizers.logarithmic"}}};

// Parameters that are tensors become packs.
bool is_parameter(std::string_view name) {
    return name == "min" || name == "max" || name == "zero_point" || name == "scale";
}

// Whether the packs have an item for each channel of one axis.
bool fits_channels(const ir::Program& program, const ir::Tensor& tensor) {
    std::optional<int64_t> axis;
    for (const ir::Attribute& attribute : tensor.quantizer->attributes) {
        const auto* scalar = std::get_if<ir::Scalar>(&attribute.value);
        const auto* number = scalar ? std::get_if<int64_t>(scalar) : nullptr;
        if (attribute.name != "channel_axis" || !number) continue;
        if (axis && axis != *number) return false;
        axis = *number;
    }
    if (!axis) return true;
    if (*axis < 0 || std::cmp_greater_equal(*axis, tensor.shape.size())) return false;
    const auto count = program.symbols.as_int(tensor.shape[static_cast<size_t>(*axis)]);
    return std::ranges::all_of(tensor.quantizer->attributes, [&](const ir::Attribute& attribute) {
        const auto* pack = std::get_if<ir::Pack>(&attribute.value);
        return !pack || (count && std::cmp_equal(pack->items.size(), *count));
    });
}

}  // namespace

bool Writer::nnef1_quantizer(ir::TensorId id,
                             std::string& op,
                             std::vector<std::string>& attributes) {
    const ir::Tensor& tensor = program_.tensors[id];
    const std::string name = op.substr(op.rfind('.') + 1);
    const auto found =
        std::ranges::find(kQuantizers, op, &decltype(kQuantizers)::value_type::first);
    if (found == kQuantizers.end()) {
        cannot(nullptr,
               fmt::format("`{}` is quantised by `{}`, a fragment of the document, for which "
                           "SkriptND has no operator",
                           tensor.name,
                           name));
        return false;
    }
    if (!fits_channels(program_, tensor)) {
        cannot(nullptr,
               fmt::format("the parameters of `{}`, which quantises `{}`, vary along several axes, "
                           "and those of SkriptND do along one",
                           name,
                           tensor.name));
        return false;
    }
    op = found->second;
    if (name == "linear_quantize") attributes = {"signed=false", "symmetric=false"};
    for (const ir::Attribute& attribute : tensor.quantizer->attributes) {
        std::string value = value_text(attribute.value);
        const bool single = std::holds_alternative<ir::Scalar>(attribute.value);
        if (single && is_parameter(attribute.name)) value = fmt::format("[{}]", value);
        std::string text = fmt::format("{}={}", attribute.name, value);
        const bool again = std::ranges::find(attributes, text) != attributes.end();
        if (!again) attributes.push_back(std::move(text));
    }
    return true;
}

}  // namespace lemma::sknd
