// SPDX-License-Identifier: Apache-2.0
// @quantize: tensors, by name or by label path, and the operators that quantise them (spec 2.14).
#include <fmt/format.h>

#include <algorithm>

#include "sknd/types/checker.h"

namespace lemma::sknd {

namespace {

// Labels of calls, explicit or taken from a single result (spec 2.10), which begin a path.
bool opens_path(const Module& module,
                const std::vector<Component>& components,
                std::string_view name) {
    return std::any_of(components.begin(), components.end(), [&](const Component& component) {
        if (!component.body.valid()) return false;
        const Region& region = module.regions[component.body];
        if (region.label) return region.label->text == name;
        return component.results.size() == 1 && component.results[0].items.size() == 1 &&
               component.results[0].items[0].targets.size() == 1 &&
               component.results[0].items[0].targets[0].name.text == name;
    });
}

}  // namespace

void DefinitionChecker::check_quantizes() {
    std::map<std::string, Span> seen;
    for (const QuantizeStmt& stmt : def_.quantizes) {
        const auto [it, fresh] = seen.emplace(stmt.tensor.text(), stmt.tensor.span);
        if (!fresh) {
            error(stmt.tensor.span,
                  DiagKind::AssignedTwice,
                  fmt::format("`{}` is quantised twice", stmt.tensor.text()))
                .note(it->second, "first here");
        }
        check_quantized_tensor(stmt.tensor);
        check_quantize(stmt);
    }
}

void DefinitionChecker::check_quantized_tensor(const QualifiedName& name) {
    if (name.parts.empty()) return;
    const std::string_view first = name.parts[0].text;
    if (name.parts.size() > 1) {
        // Inside a call, which only composing can inspect. The first part must name a call here, in
        // a block of it, or a graph.
        const bool known =
            opens_path(module_, def_.composes, first) || opens_path(module_, def_.updates, first) ||
            package_.package()[ref_.module].definition_index.contains(first) ||
            std::any_of(module_.regions.begin(), module_.regions.end(), [&](const Region& r) {
                return r.label && r.label->text == first;
            });
        if (!known) {
            error(name.parts[0].span,
                  DiagKind::UndeclaredName,
                  fmt::format("no label `{}` in this definition", first));
        }
        return;
    }
    const SymbolId found = scopes_.find(first);
    if (!found.valid()) {
        error(name.span, DiagKind::UndeclaredName, fmt::format("`{}` is not declared", first))
            .did_you_mean(name.span, diag::nearest_name(first, scopes_.visible_names()));
    } else if (!scopes_[found].type.tensor && !scopes_[found].type.bad()) {
        error(
            name.span,
            DiagKind::TensorMismatch,
            fmt::format(
                "`{}` is {}, expected a tensor to quantise", first, kind_text(scopes_[found].kind)))
            .note(scopes_[found].span, "declared here");
    }
}

void DefinitionChecker::check_quantize(const QuantizeStmt& stmt) {
    const auto callee = package_.resolve(ref_.module, stmt.callee, diag_);
    if (!callee || package_.broken(*callee)) return;
    const Signature& signature = package_.signature(*callee);
    if (signature.graph) {
        error(stmt.callee.span,
              DiagKind::BadQuantizer,
              fmt::format("`{}` is a graph, expected an operator to quantise a tensor",
                          stmt.callee.text()))
            .note(package_.definition(*callee).name.span, "defined here");
        return;
    }
    if (signature.inputs.size() != 1 || signature.outputs.size() != 1) {
        error(stmt.callee.span,
              DiagKind::BadQuantizer,
              fmt::format("`{}` has {} and {}, expected one of each to quantise a tensor",
                          stmt.callee.text(),
                          plural(signature.inputs.size(), "input"),
                          plural(signature.outputs.size(), "output")))
            .note(package_.definition(*callee).name.span, "defined here");
        return;
    }
    const SymbolId tensor =
        stmt.tensor.parts.size() == 1 ? scopes_.find(stmt.tensor.parts[0].text) : SymbolId{};
    const bool known = tensor.valid() && scopes_[tensor].type.tensor;
    check_call({.callee = *callee,
                .callee_span = stmt.callee.span,
                .types = &stmt.types,
                .attributes = &stmt.attributes,
                .arguments = nullptr,
                .arguments_span = {},
                .quantized = known ? &scopes_[tensor] : nullptr,
                .quantized_span = stmt.tensor.span});
}

}  // namespace lemma::sknd
