// SPDX-License-Identifier: Apache-2.0
// Declarations of fragments and graphs (3.3.1 and 3.3.2).
#include <fmt/format.h>

#include <algorithm>

#include "nnef1/check/checker.h"
#include "nnef1/check/tract.h"

namespace lemma::nnef1 {

CheckedDocument check_document(const Document& document,
                               const Operations& operations,
                               Dialect dialect,
                               Diagnostics& diag) {
    return Checker(document, operations, dialect, diag).check();
}

CheckedDocument Checker::check() {
    for (const Fragment& fragment : document_.fragments) {
        if (diag_.full()) break;
        check_declaration(fragment);
        if (fragment.body) check_fragment_body(fragment);
    }
    if (document_.graph && !diag_.full()) check_graph(*document_.graph);
    return std::move(checked_);
}

void Checker::check_unique(const std::vector<Name>& names, std::string_view what) {
    std::map<std::string_view, Span> seen;
    for (const Name& name : names) {
        if (name.text.empty()) continue;
        const auto [first, added] = seen.emplace(name.text, name.span);
        if (added) continue;
        diag_
            .error(name.span,
                   DiagKind::DuplicateName,
                   fmt::format("{} has two parameters or results `{}`", what, name.text))
            .note(first->second, "the first is here")
            .note("NNEF 1.0.4, 3.3.2: the names of parameters and results must be unique");
    }
}

namespace {

bool mixes_tensors(const ValueType& type) {
    if (std::ranges::any_of(type.items, mixes_tensors)) return true;
    return type.tuple() && has_tensor(type) && !std::ranges::all_of(type.items, has_tensor);
}

}  // namespace

void Checker::check_param_type(const Param& param, const ValueType& type) {
    if (!mixes_tensors(type)) return;
    diag_
        .error(document_.types[param.type].span,
               DiagKind::TensorMismatch,
               fmt::format("`{}` is a tuple of tensors and attributes", param.name.text))
        .note("NNEF 1.0.4, 3.3.1: tuples must not contain both tensor and non-tensor items");
}

void Checker::check_result_type(const nnef1::Result& result, const ValueType& type) {
    const Span span = document_.types[result.type].span;
    if (!all_tensors(type)) {
        if (dialect_ != Dialect::Strict) return;
        diag_
            .error(span,
                   DiagKind::TensorMismatch,
                   fmt::format("the result `{}` is `{}`, expected a tensor or tensors",
                               result.name.text,
                               text(type)))
            .note("NNEF 1.0.4, 3.3.2: fragment results must be all tensors");
        return;
    }
    const auto unbound = [](const auto& self, const ValueType& part) -> bool {
        return (part.tensor() && !part.name) ||
               std::ranges::any_of(part.items, [&](const auto& item) { return self(self, item); });
    };
    if (!unbound(unbound, type)) return;
    diag_
        .error(span,
               DiagKind::AbstractType,
               fmt::format("the result `{}` is a tensor without data-type", result.name.text))
        .note("NNEF 1.0.4, 3.3.1: unbound tensors cannot be the result of an operation");
}

void Checker::check_default(const Param& param, const ValueType& type) {
    if (!param.default_value.valid()) return;
    const ValueType found = type_of(param.default_value);
    const bool fits = std::ranges::any_of(kPrimitives, [&](TypeName generic) {
        return can_cast(found, bind(type, generic), dialect_);
    });
    if (fits) return;
    diag_
        .error(expr(param.default_value).span,
               DiagKind::BadDefault,
               fmt::format("the default of `{}` is `{}`, expected `{}`",
                           param.name.text,
                           text(found),
                           text(type)))
        .note("NNEF 1.0.4, 3.3.2: the type of the default value must match that of the parameter");
}

void Checker::check_generic(const Fragment& fragment) {
    const auto uses = [&](const auto& list) {
        return std::ranges::find_if(
            list, [&](const auto& item) { return has_generic(value_type(document_, item.type)); });
    };
    const auto param = uses(fragment.params);
    const auto result = uses(fragment.results);
    const bool used = param != fragment.params.end() || result != fragment.results.end();
    if (used && !fragment.generic) {
        const TypeId type = param != fragment.params.end() ? param->type : result->type;
        diag_
            .error(document_.types[type].span,
                   DiagKind::GenericType,
                   fmt::format("`?` in a fragment that is not generic; declare `{}<?>`",
                               fragment.name.text))
            .note("NNEF 1.0.4, 3.3.2: a fragment with a generic type must be declared as generic");
    } else if (!used && fragment.generic) {
        diag_
            .error(fragment.generic->span,
                   DiagKind::GenericType,
                   fmt::format("`{}` is generic, and none of its parameters or results is",
                               fragment.name.text))
            .note(
                "NNEF 1.0.4, 3.3.2: a generic fragment must have at least one generic parameter "
                "or result type");
    }
    if (fragment.generic && fragment.generic->default_type == TypeName::Generic) {
        diag_.error(fragment.generic->span,
                    DiagKind::GenericType,
                    "the default of `?` is `?`, expected a type");
    }
}

void Checker::check_declaration(const Fragment& fragment) {
    std::vector<Name> names;
    for (const Param& param : fragment.params) names.push_back(param.name);
    for (const auto& result : fragment.results) names.push_back(result.name);
    check_unique(names, fmt::format("`{}`", fragment.name.text));
    check_generic(fragment);
    const Param* attribute = nullptr;
    for (const Param& param : fragment.params) {
        const ValueType type = value_type(document_, param.type);
        check_param_type(param, type);
        check_default(param, type);
        if (!has_tensor(type)) {
            if (!attribute && !type.bad()) attribute = &param;
        } else if (attribute && dialect_ != Dialect::Tract) {
            diag_
                .error(param.span,
                       DiagKind::MisplacedItem,
                       fmt::format("the tensor `{}` stands behind the attribute `{}`",
                                   param.name.text,
                                   attribute->name.text))
                .note(attribute->span, "the attribute is here")
                .note("NNEF 1.0.4, 3.3.2: parameters of tensor type must precede attributes");
        }
    }
    for (const auto& result : fragment.results) {
        check_result_type(result, value_type(document_, result.type));
    }
}

void Checker::check_fragment_body(const Fragment& fragment) {
    fragment_ = &fragment;
    graph_ = nullptr;
    locals_.clear();
    for (const Param& param : fragment.params) {
        locals_.emplace(
            param.name.text,
            Local{value_type(document_, param.type), param.name.span, Local::Role::Param});
    }
    check_body(*fragment.body);
    for (const auto& result : fragment.results) {
        if (locals_.contains(result.name.text) || result.name.text.empty()) continue;
        diag_
            .error(result.name.span,
                   DiagKind::MissingOutput,
                   fmt::format("the result `{}` of `{}` is never assigned",
                               result.name.text,
                               fragment.name.text))
            .note("NNEF 1.0.4, 3.3.2: results must be assigned exactly once in the body");
    }
}

// `extension tract_symbol B;` declares a runtime extent.
void Checker::declare_symbols() {
    const ValueType integer = ValueType::primitive(TypeName::Integer);
    if (dialect_ != Dialect::Tract) {
        for (const Extension& extension : document_.extensions) {
            const std::string_view name = declared_symbol(extension);
            if (name.empty()) continue;
            locals_.emplace(name, Local{integer, extension.span, Local::Role::Param});
        }
        return;
    }
    for (const auto& [name, span] : extent_symbols(document_)) {
        locals_.emplace(name, Local{integer, span, Local::Role::Param});
    }
}

void Checker::check_graph(const Graph& graph) {
    fragment_ = nullptr;
    graph_ = &graph;
    locals_.clear();
    externals_.clear();
    declare_symbols();
    check_unique(graph.params, "the graph");
    check_unique(graph.results, "the graph");
    check_body(graph.body);
    for (const Name& param : graph.params) {
        if (locals_.contains(param.text) || param.text.empty()) continue;
        diag_
            .error(param.span,
                   DiagKind::MissingOutput,
                   fmt::format("the graph parameter `{}` is never defined", param.text))
            .note(fmt::format("write `{} = external(shape = […]);` in the body", param.text))
            .note("NNEF 1.0.4, 3.3.2: graph parameters must be the results of `external`");
    }
    for (const Name& result : graph.results) {
        if (locals_.contains(result.text) || result.text.empty()) continue;
        std::vector<std::string_view> names;
        for (const auto& [name, local] : locals_) names.push_back(name);
        diag_
            .error(result.span,
                   DiagKind::MissingOutput,
                   fmt::format("the graph result `{}` is never assigned", result.text))
            .did_you_mean(result.span, diag::nearest_name(result.text, names))
            .note(fmt::format("write `{} = …;` in the body, or name another tensor here",
                              result.text));
    }
}

}  // namespace lemma::nnef1
