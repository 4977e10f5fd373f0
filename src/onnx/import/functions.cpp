// SPDX-License-Identifier: Apache-2.0
// Inlines functions of the model at their calls.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/import/importer.h"

namespace lemma::onnx {

const Function* Importer::find_function(const Node& node) const {
    if (functions_.empty()) return nullptr;
    const auto key = [&](const std::string& domain) {
        return domain + ":" + node.op + ":" + node.overload;
    };
    auto found = functions_.find(key(node.domain));
    if (found == functions_.end() && is_default_domain(node.domain))
        found = functions_.find(key(node.domain.empty() ? "ai.onnx" : ""));
    return found == functions_.end() ? nullptr : found->second;
}

Importer::Results Importer::import_function(const NodeCall& call,
                                            const Function& function,
                                            const Scope& scope) {
    if (scope.function_depth >= options_.limits.max_function_depth) {
        fail(call,
             DiagKind::TooDeep,
             fmt::format("functions call each other more than {} deep",
                         options_.limits.max_function_depth));
        return std::nullopt;
    }
    if (std::ranges::find(active_, &function) != active_.end()) {
        fail(call,
             DiagKind::RecursiveOperator,
             fmt::format("the function `{}` calls itself", function.name));
        return std::nullopt;
    }
    if (call.inputs.size() > function.inputs.size()) {
        fail(call,
             DiagKind::ArgumentCount,
             fmt::format("the function `{}` is given {} inputs, expected at most {}",
                         function.name,
                         call.inputs.size(),
                         function.inputs.size()));
        return std::nullopt;
    }
    std::map<std::string, const Attribute*> arguments;
    for (const Attribute& attribute : call.node->attributes) {
        const Attribute* actual = &attribute;
        if (!attribute.reference.empty()) {
            if (!scope.arguments || !scope.arguments->contains(attribute.reference)) continue;
            actual = scope.arguments->at(attribute.reference);
        }
        arguments[attribute.name] = actual;
    }
    for (const Attribute& attribute : function.defaults)
        arguments.emplace(attribute.name, &attribute);

    Scope inner;
    inner.opsets = function.opsets.empty() ? scope.opsets : &function.opsets;
    inner.arguments = &arguments;
    inner.function_depth = scope.function_depth + 1;
    for (size_t i = 0; i < function.inputs.size(); ++i)
        inner.names[function.inputs[i]] = call.input(i);
    active_.push_back(&function);
    import_nodes(function.nodes, inner);
    active_.pop_back();
    std::vector<ValueId> results;
    for (const std::string& output : function.outputs) {
        const ValueId id = find(inner, output);
        if (id.valid() && values_[id].broken) return std::nullopt;
        results.push_back(id);
    }
    return results;
}

}  // namespace lemma::onnx
