// The quantisers of tensors as the lines of graph.quant.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "nnef1/export.h"
#include "nnef1/literals.h"

namespace lemma::nnef1 {

namespace {

const ir::Value* find(const ir::Quantizer& quantizer, std::string_view name) {
    for (const ir::Attribute& attribute : quantizer.attributes) {
        if (attribute.name == name) return &attribute.value;
    }
    return nullptr;
}

// Items per channel are a tensor with the channels along their axis.
std::optional<std::string> argument(const ir::SymbolPool& symbols,
                                    const ir::Tensor& tensor,
                                    std::string_view name,
                                    const ValueType& type) {
    const ir::Quantizer& quantizer = *tensor.quantizer;
    const ir::Value* const value = find(quantizer, name);
    if (!value) return std::nullopt;
    if (!type.tensor()) return value_text(symbols, *value, type);
    const ValueType item = ValueType::primitive(type.name.value_or(TypeName::Scalar));
    const auto* pack = std::get_if<ir::Pack>(value);
    if (!pack) return value_text(symbols, *value, item);
    if (pack->items.size() == 1) return value_text(symbols, pack->items[0], item);
    auto text = value_text(symbols, *value, ValueType::array(item));
    int64_t axis = tensor.shape.size() > 1 ? 1 : 0;
    if (const ir::Value* const given = find(quantizer, "channel_axis")) {
        const auto* scalar = std::get_if<ir::Scalar>(given);
        const auto* number = scalar ? std::get_if<int64_t>(scalar) : nullptr;
        if (!number || *number < 0 || *number > 8) return std::nullopt;
        axis = *number;
    }
    for (; text && axis > 0; --axis) text = fmt::format("[{}]", *text);
    return text;
}

}  // namespace

std::string export_quantizers(const ir::Program& program,
                              const std::map<std::string, ir::TensorId>& names,
                              const Operations& operations,
                              Diagnostics& diag) {
    std::string text;
    for (const auto& [name, id] : names) {
        const auto& quantizer = program.tensors[id].quantizer;
        if (!quantizer) continue;
        const Signature* const signature =
            operations.find(quantizer->op.substr(quantizer->op.rfind('.') + 1));
        const bool known = signature && signature->standard && !signature->params.empty();
        std::vector<std::string> arguments;
        bool good = known;
        for (size_t i = 1; good && i < signature->params.size(); ++i) {
            const std::string_view param = signature->fragment->params[i].name.text;
            const auto value =
                argument(program.symbols, program.tensors[id], param, signature->params[i]);
            good = value.has_value();
            if (value) arguments.push_back(fmt::format("{} = {}", param, *value));
        }
        if (!good) {
            diag.error(Span{},
                       DiagKind::NotSupported,
                       fmt::format("the quantiser `{}` of `{}` is none of NNEF 1.0",
                                   quantizer->op,
                                   program.tensors[id].name));
            continue;
        }
        text +=
            fmt::format("\"{}\": {}({});\n", name, signature->name(), fmt::join(arguments, ", "));
    }
    return text;
}

}  // namespace lemma::nnef1
