// SPDX-License-Identifier: Apache-2.0
// Invocations: arguments, generic types, and operations that only few places allow (3.3.2).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "nnef1/check/checker.h"

namespace lemma::nnef1 {

ValueType Checker::call_type(ExprId id, const Invocation& invocation) {
    const Signature* const signature = operations_.find(invocation.name);
    if (!signature && dialect_ == Dialect::Tract && invocation.name.view().starts_with("tract_")) {
        // Extensions add operations that only tract knows. Those in use are reported.
        for (const Argument& argument : document_.items(invocation.args)) type_of(argument.value);
        return invocation.name == "tract_core_scan" ? scan_type(id, invocation) : ValueType{};
    }
    if (!signature) {
        const Span span = name_span(expr(id), invocation);
        diag_.error(span, DiagKind::NoOperator, fmt::format("no operation `{}`", invocation.name))
            .did_you_mean(span, operations_.nearest(invocation.name))
            .note("NNEF 1.0.4, 3.3.2: the operation must be declared");
        for (const Argument& argument : document_.items(invocation.args)) type_of(argument.value);
        return {};
    }
    checked_.operations[id] = signature;
    const Call call = {id, invocation, *signature};
    check_place(call);
    const std::vector<ExprId> arguments = match_arguments(call);
    std::vector<ValueType> types(arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (!arguments[i].valid() || misses_quotes(signature->params[i], arguments[i])) continue;
        types[i] = type_of(arguments[i]);
    }
    const auto generic = bind_generic(call, arguments, types);
    checked_.generics[id] = generic;
    const auto bound = [&](const ValueType& type) {
        if (!has_generic(type) || !signature->generic()) return type;
        return generic ? bind(type, *generic) : ValueType{};
    };
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (!arguments[i].valid()) continue;
        check_argument(call, i, arguments[i], types[i], bound(signature->params[i]));
    }
    return bound(signature->result());
}

// A tensor for each item of `output`, which is a list of tuples.
ValueType Checker::scan_type(ExprId id, const Invocation& invocation) {
    constexpr size_t kPosition = 4;
    size_t position = 0;
    ExprId output;
    for (const Argument& argument : document_.items(invocation.args)) {
        if (argument.name.empty() ? position == kPosition : argument.name == "output") {
            output = bare(argument.value);
        }
        ++position;
    }
    const auto* list = output.valid() ? std::get_if<Array>(&expr(output).node) : nullptr;
    if (!list || list->items.empty()) {
        diag_.error(name_span(expr(id), invocation),
                    DiagKind::MissingAttribute,
                    "`tract_core_scan` needs `output`, a list of what it gives");
        return {};
    }
    const std::vector<ValueType> results(list->items.size(), ValueType::tensor(TypeName::Scalar));
    return results.size() == 1 ? results[0] : ValueType::tuple(results);
}

// `border = constant` instead of `'constant'`.
bool Checker::misses_quotes(const ValueType& param, ExprId argument) {
    const Expr& node = expr(argument);
    const auto* name = std::get_if<Identifier>(&node.node);
    if (!param.is(TypeName::String) || !name) return false;
    if (locals_.contains(name->name) || targets_.contains(name->name)) return false;
    diag_
        .error(node.span,
               DiagKind::UndeclaredName,
               fmt::format("nothing is called `{}` here", name->name))
        .did_you_mean(node.span, fmt::format("'{}'", name->name))
        .note("NNEF 1.0.4, 3.3.2: identifiers must be assigned before they are used");
    return true;
}

// ---- Places -------------------------------------------------------------------------------------

void Checker::check_place(const Call& call) {
    if (!call.signature.standard) return;
    const std::string_view name = call.signature.name();
    const Span span = name_span(expr(call.expr), call.invocation);
    const bool introduces = name == "external" || name == "variable" || name == "update";
    if (fragment_ && introduces) {
        diag_
            .error(span,
                   DiagKind::MisplacedOperation,
                   fmt::format("`{}` in a fragment, expected in the graph only", name))
            .note(fragment_->name.span, "the fragment is declared here")
            .note(fmt::format("NNEF 1.0.4, 3.3.2: `{}` must not be used in a fragment", name));
        return;
    }
    if (name != "external") return;
    if (external_ == call.expr) return;  // an assignment to a single name has checked it
    diag_
        .error(span,
               DiagKind::MisplacedOperation,
               "`external` inside of an expression, expected alone on the right-hand side")
        .note("NNEF 1.0.4, 3.3.2: results of `external` must be graph parameters, one to one");
}

// ---- Which argument is whose --------------------------------------------------------------------

std::optional<size_t> Checker::match_positional(const Call& call,
                                                const Argument& argument,
                                                size_t index) {
    const Signature& signature = call.signature;
    const Span span = expr(argument.value).span;
    if (index >= signature.params.size()) {
        diag_
            .error(span,
                   DiagKind::ArgumentCount,
                   fmt::format("`{}` has {} parameter{}, and this is argument {}",
                               signature.name(),
                               signature.params.size(),
                               signature.params.size() == 1 ? "" : "s",
                               index + 1))
            .note(signature.fragment->name.span, "declared here")
            .note("NNEF 1.0.4, 3.3.2: there must not be more arguments than parameters");
        return std::nullopt;
    }
    const ValueType& type = signature.params[index];
    if (!has_tensor(type) && !type.bad() && dialect_ != Dialect::Tract) {
        const std::string_view name = signature.fragment->params[index].name.text;
        diag_
            .error(
                span,
                DiagKind::ArgumentCount,
                fmt::format(
                    "the attribute `{}` of `{}` is given without its name", name, signature.name()))
            .note(fmt::format("write `{} = …`", name))
            .fix({span.file, span.begin, span.begin}, fmt::format("{} = ", name))
            .note("NNEF 1.0.4, 3.3.2: attribute values must be named arguments");
    }
    return index;
}

std::optional<size_t> Checker::match_named(const Call& call, const Argument& argument) {
    const Signature& signature = call.signature;
    const auto index = signature.find_param(argument.name);
    if (!index) {
        report_no_param(signature, argument, diag_)
            .note("NNEF 1.0.4, 3.3.2: the name of an argument must be that of a parameter");
        return std::nullopt;
    }
    const bool literal = !std::holds_alternative<Identifier>(expr(bare(argument.value)).node);
    if (has_tensor(signature.params[*index]) && !literal && dialect_ != Dialect::Tract) {
        const auto* name = std::get_if<Identifier>(&expr(bare(argument.value)).node);
        const auto local = locals_.find(name->name);
        if (local != locals_.end() && has_tensor(local->second.type)) {
            diag_.warning(argument.name_span,
                          DiagKind::Deprecated,
                          fmt::format("the tensor `{}` is given by name, which is deprecated",
                                      argument.name));
        }
    }
    return index;
}

void Checker::check_all_assigned(const Call& call, const std::vector<ExprId>& arguments) {
    const auto& params = call.signature.fragment->params;
    for (size_t i = 0; i < params.size(); ++i) {
        if (arguments[i].valid() || params[i].default_value.valid()) continue;
        diag_
            .error(name_span(expr(call.expr), call.invocation),
                   DiagKind::MissingAttribute,
                   fmt::format("`{}` needs its parameter `{}`, which has no default",
                               call.signature.name(),
                               params[i].name.text))
            .note(params[i].span, "declared here")
            .note(
                "NNEF 1.0.4, 3.3.2: each parameter without default value must be assigned an "
                "argument");
    }
}

// The argument of each parameter; invalid if it is missing.
std::vector<ExprId> Checker::match_arguments(const Call& call) {
    const Signature& signature = call.signature;
    const auto& params = signature.fragment->params;
    std::vector<ExprId> result(params.size());
    bool broken = false, named = false;
    size_t positional = 0;
    for (const Argument& argument : document_.items(call.invocation.args)) {
        const bool by_position = argument.name.empty();
        if (by_position && named) {
            diag_
                .error(expr(argument.value).span,
                       DiagKind::ArgumentCount,
                       "a positional argument stands behind a named one")
                .note("NNEF 1.0.4, 3.3.2: positional arguments must precede named ones");
            type_of(argument.value);
            broken = true;
            continue;
        }
        named = named || !by_position;
        const auto index = by_position ? match_positional(call, argument, positional++)
                                       : match_named(call, argument);
        if (!index) {
            type_of(argument.value);
            broken = true;
            continue;
        }
        if (result[*index].valid()) {
            diag_
                .error(argument.name_span,
                       DiagKind::DuplicateAttribute,
                       fmt::format("`{}` is given twice", params[*index].name.text))
                .note(expr(result[*index]).span, "the first is here")
                .note("NNEF 1.0.4, 3.3.2: a parameter must be assigned once in an invocation");
            continue;
        }
        result[*index] = argument.value;
    }
    if (!broken) check_all_assigned(call, result);
    return result;
}

// ---- Generic types ------------------------------------------------------------------------------

namespace {

// The types of `?` in the parameter's type that let the argument fit.
void deduce(const ValueType& param, const ValueType& argument, std::set<TypeName>& found) {
    if (param.name == TypeName::Generic) {
        const bool primitive = argument.kind == ValueType::Kind::Primitive;
        if (primitive || (param.tensor() && argument.tensor())) {
            if (argument.name) found.insert(*argument.name);
        }
        return;
    }
    if (param.kind != argument.kind) return;
    for (size_t i = 0; i < param.items.size() && i < argument.items.size(); ++i) {
        deduce(param.items[i], argument.items[i], found);
    }
}

}  // namespace

// Whether some argument fits its parameter for no type of `?`. Reports that argument.
bool Checker::refuses_any(const Call& call,
                          const std::vector<ExprId>& arguments,
                          const std::vector<ValueType>& types) {
    for (size_t i = 0; i < types.size(); ++i) {
        const ValueType& param = call.signature.params[i];
        if (!arguments[i].valid() || !has_generic(param)) continue;
        const bool fits = std::ranges::any_of(kPrimitives, [&](TypeName generic) {
            return can_cast(types[i], nnef1::bind(param, generic), dialect_);
        });
        if (fits) continue;
        check_argument(call, i, arguments[i], types[i], param);
        return true;
    }
    return false;
}

std::optional<TypeName> Checker::bind_generic(const Call& call,
                                              const std::vector<ExprId>& arguments,
                                              const std::vector<ValueType>& types) {
    const Signature& signature = call.signature;
    const Span span = name_span(expr(call.expr), call.invocation);
    if (call.invocation.type) {
        if (!signature.generic()) {
            diag_
                .error(span,
                       DiagKind::GenericType,
                       fmt::format("`{}` is not generic and takes no type", signature.name()))
                .note(signature.fragment->name.span, "declared here");
        } else if (call.invocation.type == TypeName::Generic &&
                   !(fragment_ && fragment_->generic)) {
            diag_.error(span, DiagKind::GenericType, "`<?>` outside of a generic fragment")
                .note("NNEF 1.0.4, 3.3.2: `<?>` propagates the type of a generic fragment");
            return std::nullopt;
        }
        return call.invocation.type;
    }
    if (!signature.generic()) return std::nullopt;
    if (signature.fragment->generic->default_type) return signature.fragment->generic->default_type;
    std::set<TypeName> found;
    bool unknown = false;  // an argument was reported already
    for (size_t i = 0; i < types.size(); ++i) {
        if (!arguments[i].valid()) continue;
        unknown = unknown || types[i].bad();
        deduce(signature.params[i], types[i], found);
    }
    if (found.size() == 1) return *found.begin();
    // tract has one type for all tensors; building the graph shows their actual types.
    if (dialect_ == Dialect::Tract) return TypeName::Scalar;
    if (found.empty() && (unknown || refuses_any(call, arguments, types))) return std::nullopt;
    std::string names;
    for (const TypeName name : found) {
        names += fmt::format("{}`{}`", names.empty() ? "" : " and ", spelling(name));
    }
    auto report = diag_.error(
        span,
        DiagKind::GenericType,
        found.empty()
            ? fmt::format("the type of `{}` does not follow from its arguments", signature.name())
            : fmt::format("the type of `{}` would be {} at once", signature.name(), names));
    if (found.empty()) report.note(fmt::format("give it: `{}<scalar>(…)`", signature.name()));
    report.note("NNEF 1.0.4, 3.3.2: the deduction of the generic type must give a unique type");
    return std::nullopt;
}

namespace {

// Whether a tuple in a list has an item on whose type the tuples of the list disagree.
bool has_open_item(const ValueType& type) {
    const bool open = type.tuple() && std::ranges::any_of(type.items, &ValueType::bad);
    return open || std::ranges::any_of(type.items, has_open_item);
}

// `[1, 1, 1, 1]` instead of pairs.
bool is_flat_list_of_pairs(const ValueType& found, const ValueType& wanted) {
    const auto item = [](const ValueType& type) {
        return type.array() && !type.items.empty() ? &type.items[0] : nullptr;
    };
    const ValueType* const one = item(found);
    const ValueType* const pair = item(wanted);
    return one && pair && pair->tuple() && pair->items.size() == 2 && one->name &&
           one->name == pair->items[0].name;
}

}  // namespace

// Suggests the pairs, if the grouping of the numbers does not matter.
void Checker::hint_pairs(ExprId argument, diag::Report& report) {
    std::vector<int64_t> numbers;
    if (const auto* array = std::get_if<Array>(&expr(argument).node)) {
        for (const ExprId item : document_.items(array->items)) {
            const auto* literal = std::get_if<IntegerLiteral>(&expr(item).node);
            if (literal) numbers.push_back(literal->value());
        }
    }
    const bool same = numbers.size() % 2 == 0 && !numbers.empty() &&
                      std::ranges::all_of(numbers, [&](int64_t n) { return n == numbers[0]; });
    if (!same) {
        report.note("write a pair for each axis, before and after it: `[(1, 1), (0, 2)]`");
        return;
    }
    const std::vector<std::string> pairs(numbers.size() / 2, fmt::format("({0}, {0})", numbers[0]));
    const std::string text = fmt::format("[{}]", fmt::join(pairs, ", "));
    report.note(fmt::format("write a pair for each axis, before and after it: `{}`", text))
        .fix(expr(argument).span, text);
}

void Checker::check_argument(const Call& call,
                             size_t param,
                             ExprId argument,
                             const ValueType& found,
                             const ValueType& wanted) {
    if (can_cast(found, wanted, dialect_) && !has_open_item(found)) return;
    const Param& declared = call.signature.fragment->params[param];
    const Span span = expr(argument).span;
    auto report = diag_.error(span,
                              DiagKind::TypeMismatch,
                              fmt::format("`{}` of `{}` is given `{}`, expected `{}`",
                                          declared.name.text,
                                          call.signature.name(),
                                          text(found),
                                          text(wanted)));
    const bool integer_literal = std::holds_alternative<IntegerLiteral>(expr(argument).node);
    if (integer_literal && wanted.name == TypeName::Scalar) {
        report.note("a scalar has a point or an exponent: `1.0`")
            .fix({span.file, span.end, span.end}, ".0");
    }
    if (is_flat_list_of_pairs(found, wanted)) hint_pairs(argument, report);
    report.note(declared.span, "declared here")
        .note("NNEF 1.0.4, 3.3.1: there is no implicit cast between these types");
}

}  // namespace lemma::nnef1
