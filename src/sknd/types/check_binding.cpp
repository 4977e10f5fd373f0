// SPDX-License-Identifier: Apache-2.0
// Whether every call can bind the shapes of inputs to the names that they declare, and whether
// single defaults of packs have a known length (spec 2.6.1).
#include <fmt/format.h>

#include "sknd/names/identifiers.h"
#include "sknd/types/checker.h"

namespace lemma::sknd {

std::vector<size_t> DefinitionChecker::check_binding_order() {
    BindingOrder binding = find_binding_order(module_, def_);
    for (const size_t i : binding.unbound) {
        const ParamDecl& decl = def_.inputs[i];
        error(decl.span,
              DiagKind::AmbiguousBinding,
              fmt::format("the shape of `{}` has more than one part of unknown length",
                          decl.name.text))
            .note(
                "at most one can be left open; fix the others by an int attribute (not packed, not "
                "optional) or by another input");
    }
    check_uniform_defaults(std::move(binding.known));
    return binding.order;
}

// `a: int..(k) = 0` needs k from elsewhere: a single value does not define it.
void DefinitionChecker::check_uniform_defaults(NameSet known) {
    NameTable<bool> mentions;  // more than once?
    for (const ParamDecl& decl : def_.attribs) {
        if (!decl.type.pack) {
            known.insert(decl.name.text);
            continue;
        }
        for_each_identifier(module_, decl.type.pack->length, [&](std::string_view name, ExprId) {
            mentions.set(name, mentions.contains(name));
        });
    }
    // A list for another attribute of the same length defines it, too.
    mentions.for_each([&](std::string_view name, bool again) {
        if (again) known.insert(name);
    });
    for (const ParamDecl& decl : def_.attribs) {
        if (!decl.type.pack || !decl.value.valid()) continue;
        const Type& type = tables_.types[decl.value];
        if (type.bad() || type.packed) continue;
        const ExprId length = decl.type.pack->length;
        if (length.valid() && reads_only(module_, length, known)) continue;
        error(decl.value,
              DiagKind::BadDefault,
              fmt::format("a single default for the pack `{}`, whose length is not known",
                          decl.name.text))
            .note(
                "bind the length by an input shape or an attribute, or write the default as a "
                "list");
    }
}

}  // namespace lemma::sknd
