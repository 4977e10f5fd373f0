// SPDX-License-Identifier: Apache-2.0
#include "sknd/names/binding.h"

#include "sknd/names/identifiers.h"

namespace lemma::sknd {

namespace {

// Attributes whose values are known before any input: single, not optional, and without a default
// that depends on other names.
NameSet names_known_first(const Module& module, const Definition& definition) {
    NameSet known;
    for (const ParamDecl& decl : definition.attribs) {
        if (decl.type.pack || decl.type.optional) continue;
        if (!decl.value.valid() || reads_only(module, decl.value, {})) known.insert(decl.name.text);
    }
    return known;
}

// At most one packed item may have an unknown length.
bool can_bind(const Module& module, const ParamDecl& decl, const NameSet& known) {
    if (!decl.type.shape) return true;
    NameSet captured;  // the rank of a given tensor is known
    for_each_identifier(
        module, decl.type.rank, [&](std::string_view name, ExprId) { captured.insert(name); });
    size_t flexible = 0;
    for (const ExtentSpec& extent : *decl.type.shape) {
        if (!extent.pack || extent.spread) continue;
        const ExprId length = extent.pack->length;
        bool open = false;
        for_each_identifier(
            module, length.valid() ? length : extent.extent, [&](std::string_view name, ExprId) {
                open = open || (!known.contains(name) && !captured.contains(name));
            });
        if (open) ++flexible;
    }
    return flexible <= 1;
}

void learn_names(const Module& module, const ParamDecl& decl, NameSet& known) {
    const auto learn = [&](ExprId id) {
        for_each_identifier(module, id, [&](std::string_view name, ExprId) { known.insert(name); });
    };
    learn(decl.type.rank);
    if (decl.type.pack) learn(decl.type.pack->length);
    if (!decl.type.shape) return;
    for (const ExtentSpec& extent : *decl.type.shape) {
        learn(extent.extent);
        if (extent.pack) learn(extent.pack->length);
    }
}

}  // namespace

bool reads_only(const Module& module, ExprId expr, const NameSet& names) {
    bool all = true;
    for_each_identifier(
        module, expr, [&](std::string_view name, ExprId) { all = all && names.contains(name); });
    return all;
}

BindingOrder find_binding_order(const Module& module, const Definition& definition) {
    BindingOrder result;
    result.known = names_known_first(module, definition);
    std::vector<bool> bound(definition.inputs.size(), false);
    for (const bool optional : {false, true}) {
        bool progress = true;
        while (progress) {
            progress = false;
            for (size_t i = 0; i < definition.inputs.size(); ++i) {
                const ParamDecl& decl = definition.inputs[i];
                const bool now = !bound[i] && decl.type.optional == optional;
                if (!now || !can_bind(module, decl, result.known)) continue;
                learn_names(module, decl, result.known);
                bound[i] = progress = true;
                result.order.push_back(i);
            }
        }
    }
    for (size_t i = 0; i < definition.inputs.size(); ++i) {
        if (bound[i]) continue;
        result.unbound.push_back(i);
        learn_names(module, definition.inputs[i], result.known);
    }
    return result;
}

}  // namespace lemma::sknd
