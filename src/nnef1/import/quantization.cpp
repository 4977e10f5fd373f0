// SPDX-License-Identifier: Apache-2.0
#include "nnef1/import/quantization.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/match.h"

namespace lemma::nnef1 {

namespace {

constexpr const char* kArguments =
    "NNEF 1.0.4, 5.3: all parameters but the quantised tensor must be provided as named arguments";

void collect_names(const Document& document, ExprId target, std::set<std::string_view>& names) {
    const auto each = [&](Slice<ExprId> items) {
        for (const ExprId item : document.items(items)) collect_names(document, item, names);
    };
    match(
        document.exprs[target].node,
        [&](const Identifier& name) { names.insert(name.name); },
        [&](const Array& array) { each(array.items); },
        [&](const Tuple& tuple) { each(tuple.items); },
        [](const auto&) {});
}

class QuantCheck {
public:
    QuantCheck(const QuantFile& file,
               const Operations& operations,
               const ImportOptions& options,
               Diagnostics& diag)
        : file_(file), operations_(operations), options_(options), diag_(diag) {}

    std::optional<TensorQuantizer> check(const QuantEntry& entry);

private:
    std::optional<size_t> parameter(const Signature& signature, const Argument& argument);
    std::optional<std::vector<ExprId>> match_arguments(const Signature& signature,
                                                       const Invocation& call);
    bool add_arguments(const Signature& signature,
                       const std::vector<ExprId>& given,
                       TensorQuantizer& result);
    bool add_argument(const Signature& signature,
                      size_t index,
                      ExprId value,
                      TensorQuantizer& result);
    bool add_items(ExprId value, TypeName type, size_t depth, QuantTensor& result);
    bool wrong_type(const Signature& signature, size_t index, ExprId value);
    bool good_values(const Signature& signature,
                     const std::vector<ExprId>& given,
                     const TensorQuantizer& quantizer);
    ir::Scalar scalar(ExprId value) const;
    std::optional<TypeName> literal_type(ExprId value) const;
    const Expr& expr(ExprId id) const { return file_.exprs[id]; }

    const QuantFile& file_;
    const Operations& operations_;
    const ImportOptions& options_;
    Diagnostics& diag_;
};

std::optional<TypeName> QuantCheck::literal_type(ExprId value) const {
    return match(
        expr(value).node,
        [](const IntegerLiteral&) { return std::optional(TypeName::Integer); },
        [](const ScalarLiteral&) { return std::optional(TypeName::Scalar); },
        [](const LogicalLiteral&) { return std::optional(TypeName::Logical); },
        [](const StringLiteral&) { return std::optional(TypeName::String); },
        [](const auto&) { return std::optional<TypeName>(); });
}

ir::Scalar QuantCheck::scalar(ExprId value) const {
    return match(
        expr(value).node,
        [](const IntegerLiteral& literal) { return ir::Scalar(literal.value()); },
        [](const ScalarLiteral& literal) { return ir::Scalar(literal.value()); },
        [](const LogicalLiteral& literal) { return ir::Scalar(literal.value); },
        [](const StringLiteral& literal) { return ir::Scalar(std::string(literal.value)); },
        [](const auto&) { return ir::Scalar(int64_t{0}); });
}

bool QuantCheck::wrong_type(const Signature& signature, size_t index, ExprId value) {
    const Param& param = signature.fragment->params[index];
    const ValueType type = signature.params[index];
    diag_
        .error(expr(value).span,
               DiagKind::TypeMismatch,
               fmt::format("`{}` of `{}` does not take this, expected `{}`{}",
                           param.name.text,
                           signature.name(),
                           text(type.tensor() ? ValueType::primitive(*type.name) : type),
                           type.tensor() ? ", or an array of them per channel" : ""))
        .note(param.span, "declared here");
    return false;
}

// Nested arrays are tensors; each level is an axis.
bool QuantCheck::add_items(ExprId value, TypeName type, size_t depth, QuantTensor& result) {
    if (const auto* array = std::get_if<Array>(&expr(value).node)) {
        if (depth == kMaxRank) return false;
        const auto count = static_cast<int64_t>(array->items.size());
        if (result.shape.size() == depth) result.shape.push_back(count);
        if (result.shape[depth] != count || count == 0) return false;
        return std::ranges::all_of(file_.items(array->items), [&](ExprId item) {
            return add_items(item, type, depth + 1, result);
        });
    }
    if (depth != result.shape.size() || literal_type(value) != type) return false;
    result.items.push_back(scalar(value));
    return true;
}

bool QuantCheck::add_argument(const Signature& signature,
                              size_t index,
                              ExprId value,
                              TensorQuantizer& result) {
    const ValueType& type = signature.params[index];
    const std::string name(signature.fragment->params[index].name.text);
    if (!type.name || *type.name == TypeName::Generic) {
        return type.bad() || wrong_type(signature, index, value);
    }
    if (type.tensor()) {
        QuantTensor tensor{.name = name, .dtype = dtype_of(*type.name, options_)};
        if (!add_items(value, *type.name, 0, tensor)) return wrong_type(signature, index, value);
        result.tensors.push_back(std::move(tensor));
        return true;
    }
    if (literal_type(value) != *type.name) return wrong_type(signature, index, value);
    result.attributes.push_back({name, scalar(value)});
    return true;
}

std::optional<size_t> QuantCheck::parameter(const Signature& signature, const Argument& argument) {
    if (argument.name.empty()) {
        diag_
            .error(expr(argument.value).span,
                   DiagKind::ArgumentCount,
                   fmt::format("an argument of `{}` is given without its name", signature.name()))
            .note(kArguments);
        return std::nullopt;
    }
    const auto index = signature.find_param(argument.name);
    if (!index) {
        report_no_param(signature, argument, diag_);
        return std::nullopt;
    }
    if (*index > 0) return index;
    diag_
        .error(argument.name_span,
               DiagKind::BadQuantizer,
               fmt::format("`{}` is the tensor to be quantised, which is named before the colon",
                           argument.name))
        .note("NNEF 1.0.4, 5.3: there must not be an argument for the tensor to be quantised");
    return std::nullopt;
}

// The argument of each parameter; invalid if it is missing.
std::optional<std::vector<ExprId>> QuantCheck::match_arguments(const Signature& signature,
                                                               const Invocation& call) {
    std::vector<ExprId> given(signature.params.size());
    bool good = true;
    for (const Argument& argument : file_.items(call.args)) {
        const auto index = parameter(signature, argument);
        good = good && index;
        if (index && given[*index].valid()) {
            diag_.error(argument.name_span,
                        DiagKind::DuplicateAttribute,
                        fmt::format("`{}` is given twice", argument.name));
            good = false;
        }
        if (index) given[*index] = argument.value;
    }
    return good ? std::optional(std::move(given)) : std::nullopt;
}

bool QuantCheck::add_arguments(const Signature& signature,
                               const std::vector<ExprId>& given,
                               TensorQuantizer& result) {
    const auto& params = signature.fragment->params;
    for (size_t i = 1; i < params.size(); ++i) {
        if (given[i].valid()) {
            if (!add_argument(signature, i, given[i], result)) return false;
        } else if (!params[i].default_value.valid()) {
            diag_
                .error(result.span,
                       DiagKind::MissingAttribute,
                       fmt::format("`{}` needs its parameter `{}`", result.op, params[i].name.text))
                .note(params[i].span, "declared here")
                .note(kArguments);
            return false;
        }
    }
    return true;
}

// A value that no quantiser of the specification accepts: its parameter and the reason.
struct BadValue {
    std::string_view param;
    std::string reason;
};

// The items in the type of tensors, f32.
std::vector<float> items_of(const TensorQuantizer& quantizer, std::string_view name) {
    std::vector<float> items;
    for (const QuantTensor& tensor : quantizer.tensors) {
        if (tensor.name != name) continue;
        for (const ir::Scalar& item : tensor.items) {
            const auto* real = std::get_if<double>(&item);
            items.push_back(real ? static_cast<float>(*real) : 0.0F);
        }
    }
    return items;
}

std::optional<BadValue> find_bad_value(const TensorQuantizer& quantizer) {
    for (const ir::Attribute& attribute : quantizer.attributes) {
        const auto* scalar = std::get_if<ir::Scalar>(&attribute.value);
        const auto* bits = scalar ? std::get_if<int64_t>(scalar) : nullptr;
        if (attribute.name != "bits" || !bits || (*bits >= 1 && *bits <= 64)) continue;
        return BadValue{"bits", fmt::format("`bits` is {}, expected 1 to 64", *bits)};
    }
    const bool logarithmic = quantizer.op == "logarithmic_quantize";
    for (const std::string_view name : {"scale", "max"}) {
        if (name == "max" && !logarithmic) continue;
        for (const float item : items_of(quantizer, name)) {
            if (item > 0 && std::isfinite(item)) continue;
            return BadValue{name, fmt::format("`{}` is {}, expected more than 0", name, item)};
        }
    }
    const std::vector<float> low = items_of(quantizer, "min");
    const std::vector<float> high = items_of(quantizer, "max");
    if (logarithmic || low.empty() || high.empty()) return std::nullopt;
    const auto range = [](float from, float to) -> std::optional<BadValue> {
        if (std::isfinite(to - from) && from < to) return std::nullopt;
        return BadValue{
            "min", fmt::format("`min` is {}, expected less than `max`, which is {}", from, to)};
    };
    // Lists of equal length have one item per channel; otherwise all pairs are compared.
    if (low.size() != high.size()) {
        return range(*std::ranges::max_element(low), *std::ranges::min_element(high));
    }
    for (size_t i = 0; i < low.size(); ++i) {
        if (auto bad = range(low[i], high[i])) return bad;
    }
    return std::nullopt;
}

bool QuantCheck::good_values(const Signature& signature,
                             const std::vector<ExprId>& given,
                             const TensorQuantizer& quantizer) {
    if (!signature.standard) return true;
    const auto bad = find_bad_value(quantizer);
    if (!bad) return true;
    const auto index = signature.find_param(bad->param);
    const ExprId value = index ? given[*index] : ExprId{};
    diag_.error(
        value.valid() ? expr(value).span : quantizer.span, DiagKind::BadQuantizer, bad->reason);
    return false;
}

std::optional<TensorQuantizer> QuantCheck::check(const QuantEntry& entry) {
    const Expr& node = expr(entry.quantizer);
    const Invocation* call = file_.invocation(node);
    if (!call) return std::nullopt;  // it was reported
    const Span span = name_span(node, *call);
    const Signature* const signature = operations_.find(call->name);
    if (!signature) {
        diag_.error(span, DiagKind::NoOperator, fmt::format("no operation `{}`", call->name))
            .did_you_mean(span, operations_.nearest(call->name));
        return std::nullopt;
    }
    if (signature->params.empty() || !signature->params[0].tensor()) {
        diag_.error(span,
                    DiagKind::BadQuantizer,
                    fmt::format("`{}` takes no tensor that it could quantise", call->name));
        return std::nullopt;
    }
    if (signature->standard && !call->name.view().ends_with("_quantize")) {
        diag_.warning(
            span, DiagKind::BadQuantizer, fmt::format("`{}` does not quantise", call->name));
    }
    TensorQuantizer result{.tensor = std::string(entry.tensor.text),
                           .op = std::string(call->name),
                           .standard = signature->standard,
                           .span = span};
    const auto given = match_arguments(*signature, *call);
    const bool good = given && add_arguments(*signature, *given, result) &&
                      good_values(*signature, *given, result);
    return good ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace

std::vector<TensorQuantizer> check_quantization(const QuantFile& file,
                                                const Document& document,
                                                const Operations& operations,
                                                const ImportOptions& options,
                                                Diagnostics& diag) {
    std::set<std::string_view> names;
    if (document.graph) {
        for (const Assignment& assignment : document.graph->body.assignments) {
            collect_names(document, assignment.target, names);
        }
    }
    std::vector<TensorQuantizer> result;
    QuantCheck check(file, operations, options, diag);
    for (const QuantEntry& entry : file.entries) {
        if (!names.contains(entry.tensor.text)) {
            const std::vector<std::string_view> known(names.begin(), names.end());
            diag.error(entry.tensor.span,
                       DiagKind::UndeclaredName,
                       fmt::format("the graph has no tensor `{}`", entry.tensor.text))
                .did_you_mean(entry.tensor.span, diag::nearest_name(entry.tensor.text, known))
                .note(
                    "NNEF 1.0.4, 5.3: identifiers must refer to tensors of the graph body, not to "
                    "labels");
        }
        if (auto quantizer = check.check(entry)) result.push_back(std::move(*quantizer));
    }
    return result;
}

namespace {

// Makes whole reals integers, as zero points of the operator are. False if one is not whole.
bool to_integers(ir::Value& value) {
    const auto whole = [](ir::Scalar& item) {
        const auto* real = std::get_if<double>(&item);
        const bool fits = real && std::abs(*real) < 0x1p53 && std::trunc(*real) == *real;
        if (fits) item = static_cast<int64_t>(*real);
        return fits;
    };
    if (auto* item = std::get_if<ir::Scalar>(&value)) return whole(*item);
    auto* pack = std::get_if<ir::Pack>(&value);
    return pack && std::ranges::all_of(pack->items, whole);
}

// Replaces the fragment by the operator that it was written for.
void make_quant_operator(ir::Quantizer& quantizer) {
    ir::Quantizer result{"quant.zero_point_linear_quantize", quantizer.attributes};
    for (ir::Attribute& attribute : result.attributes) {
        if (attribute.name == "zero_point" && !to_integers(attribute.value)) return;
    }
    quantizer = std::move(result);
}

}  // namespace

ir::Quantizer to_quantizer(const TensorQuantizer& quantizer) {
    ir::Quantizer result{.op = "nnef1." + quantizer.op, .attributes = quantizer.attributes};
    std::optional<int64_t> channel_axis;
    bool one_axis = true;
    for (const QuantTensor& tensor : quantizer.tensors) {
        if (tensor.items.size() == 1) {
            result.attributes.push_back({tensor.name, tensor.items[0]});
            continue;
        }
        result.attributes.push_back({tensor.name, ir::Pack{tensor.items}});
        const auto axis = std::ranges::find_if(tensor.shape, [](int64_t n) { return n > 1; });
        const int64_t number = axis - tensor.shape.begin();
        if (channel_axis == number) continue;
        one_axis = !channel_axis;
        channel_axis = number;
        result.attributes.push_back({"channel_axis", ir::Scalar(number)});
    }
    if (quantizer.rounds_away && one_axis) make_quant_operator(result);
    return result;
}

}  // namespace lemma::nnef1
