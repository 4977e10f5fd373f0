// SPDX-License-Identifier: Apache-2.0
// Writes the quantisers of tensors as lines of graph.quant.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/result.h"
#include "nnef1/check/literals.h"
#include "nnef1/export/export.h"
#include "nnef1/import/quantization.h"

namespace lemma::nnef1 {

namespace {

const ir::Value* find(const ir::Quantizer& quantizer, std::string_view name) {
    for (const ir::Attribute& attribute : quantizer.attributes) {
        if (attribute.name == name) return &attribute.value;
    }
    return nullptr;
}

// The axis and the number of channels; empty if unknown.
struct Channels {
    int64_t axis = 0;
    int64_t count = 0;
};
std::optional<Channels> channels_of(const ir::SymbolPool& symbols, const ir::Tensor& tensor) {
    const auto rank = static_cast<int64_t>(tensor.shape.size());
    int64_t axis = rank > 1 ? 1 : 0;
    if (tensor.quantizer->op.starts_with("nnef1.")) axis = 0;
    bool given = false;
    for (const ir::Attribute& attribute : tensor.quantizer->attributes) {
        if (attribute.name != "channel_axis") continue;
        const auto* scalar = std::get_if<ir::Scalar>(&attribute.value);
        const auto* number = scalar ? std::get_if<int64_t>(scalar) : nullptr;
        if (!number || (given && *number != axis)) return std::nullopt;
        axis = *number;
        given = true;
    }
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
    const auto count = symbols.as_int(tensor.shape[static_cast<size_t>(axis)]);
    return count ? std::optional(Channels{axis, *count}) : std::nullopt;
}

// An integer as a scalar, if the type is scalar.
ir::Scalar as_item(const ir::Scalar& value, TypeName type) {
    const auto* number = std::get_if<int64_t>(&value);
    return number && type == TypeName::Scalar ? ir::Scalar(static_cast<double>(*number)) : value;
}

// Items per channel become a tensor with the channels along their axis.
std::optional<std::string> argument(const ir::SymbolPool& symbols,
                                    const ir::Tensor& tensor,
                                    const ir::Value& value,
                                    const ValueType& type) {
    if (!type.tensor()) return value_text(symbols, value, type);
    const TypeName name = type.name.value_or(TypeName::Scalar);
    const ValueType item = ValueType::primitive(name);
    ir::Pack pack;
    if (const auto* scalar = std::get_if<ir::Scalar>(&value)) pack.items = {*scalar};
    if (const auto* given = std::get_if<ir::Pack>(&value)) pack = *given;
    for (ir::Scalar& one : pack.items) one = as_item(one, name);
    if (pack.items.size() == 1) return value_text(symbols, pack.items[0], item);
    const auto channels = channels_of(symbols, tensor);
    if (!channels || std::cmp_not_equal(pack.items.size(), channels->count)) return std::nullopt;
    auto text = value_text(symbols, pack, ValueType::array(item));
    for (int64_t i = 0; text && i < channels->axis; ++i) text = fmt::format("[{}]", *text);
    return text;
}

constexpr int64_t kMostBitsAway = 24;  // f32 represents levels of this many bits exactly

// The fragment with the same meaning as the quantisation operator; empty if there is none.
std::string_view fragment_of(const ir::Quantizer& quantizer, const Operations& operations) {
    const std::string_view op = quantizer.op;
    if (op == "quant.min_max_linear_quantize" || op == "nnef1.quantizers.min_max_linear") {
        return "min_max_linear_quantize";
    }
    if (op == "nnef1.quantizers.zero_point_linear") return "zero_point_linear_quantize";
    if (op == "nnef1.quantizers.logarithmic") return "logarithmic_quantize";
    if (op == "quant.zero_point_linear_quantize") {
        const ir::Value* const bits = find(quantizer, "bits");
        const auto* scalar = bits ? std::get_if<ir::Scalar>(bits) : nullptr;
        const auto* number = scalar ? std::get_if<int64_t>(scalar) : nullptr;
        return number && *number <= kMostBitsAway ? kAwayQuantizer : "";
    }
    if (!op.starts_with("nnef1.")) return "";
    const Signature* const found = operations.find(op.substr(op.find('.') + 1));
    return found && found->standard ? found->name() : std::string_view{};
}

// `"y": name(…);`, or the reason why there is none.
lemma::Result<std::string> line_of(const ir::SymbolPool& symbols,
                                   const ir::Tensor& tensor,
                                   const std::string& name,
                                   const Signature& signature) {
    std::vector<std::string> arguments;
    for (size_t i = 1; i < signature.params.size(); ++i) {
        const std::string_view param = signature.fragment->params[i].name.text;
        const ir::Value* given = find(*tensor.quantizer, param);
        const ir::Value usual = ir::Scalar(param == "signed");  // default of the module `quant`
        if (!given && (param == "signed" || param == "symmetric")) given = &usual;
        const auto text =
            given ? argument(symbols, tensor, *given, signature.params[i]) : std::nullopt;
        if (!text) {
            const bool packed = given && std::holds_alternative<ir::Pack>(*given);
            return std::unexpected(
                Error{packed ? fmt::format("`{}` does not vary along one axis alone", param)
                             : fmt::format("`{}` is missing, or no literal of NNEF 1.0", param)});
        }
        arguments.push_back(fmt::format("{} = {}", param, *text));
    }
    return fmt::format("\"{}\": {}({});\n", name, signature.name(), fmt::join(arguments, ", "));
}

}  // namespace

ExportedQuantizers export_quantizers(const ir::Program& program,
                                     const std::map<std::string, ir::TensorId>& names,
                                     const Operations& operations,
                                     Diagnostics& diag) {
    ExportedQuantizers result;
    for (const auto& [name, id] : names) {
        const ir::Tensor& tensor = program.tensors[id];
        if (!tensor.quantizer) continue;
        const auto refuse = [&](std::string_view reason) {
            diag.error(Span{},
                       DiagKind::NotSupported,
                       fmt::format("the quantisation of `{}` cannot be written as NNEF 1.0: {}",
                                   tensor.name,
                                   reason));
        };
        const std::string_view fragment = fragment_of(*tensor.quantizer, operations);
        if (fragment.empty()) {
            refuse(fmt::format("`{}` is none of its quantisers",
                               tensor.quantizer->op.substr(tensor.quantizer->op.rfind('.') + 1)));
            continue;
        }
        const Signature* const signature = operations.find(fragment);
        LEMMA_CHECK(signature);
        const auto line = line_of(program.symbols, tensor, name, *signature);
        if (line) {
            result.text += *line;
            if (!signature->standard) result.fragments.emplace(fragment);
        } else {
            refuse(line.error().message);
        }
    }
    return result;
}

}  // namespace lemma::nnef1
