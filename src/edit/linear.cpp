// SPDX-License-Identifier: Apache-2.0
#include "edit/linear.h"

namespace lemma::edit {

std::optional<Linear> linear_form(const ir::SymbolPool& pool, ir::SymId id) {
    const ir::SymNode node = pool.node(id);
    if (node.kind == ir::SymKind::Symbol || node.kind == ir::SymKind::Operation)
        return Linear{.atom = id};
    if (node.kind != ir::SymKind::Polynomial) return std::nullopt;
    Linear found;
    for (const ir::SymTerm& term : node.terms) {
        if (term.factors.empty()) {
            found.offset = term.coefficient;
        } else if (term.factors.size() == 1 && term.factors[0].power == 1 && !found.atom.valid()) {
            found.atom = term.factors[0].atom;
            found.factor = term.coefficient;
        } else {
            return std::nullopt;
        }
    }
    return found.atom.valid() ? std::optional(found) : std::nullopt;
}

std::optional<ir::SymId> solve(ir::SymbolPool& pool, const Linear& form, ir::SymId value) {
    const auto rest = pool.apply(ir::SymOp::Sub, value, pool.integer(form.offset));
    if (!rest) return std::nullopt;
    if (const auto number = pool.as_int(*rest)) {
        // The lowest number has no opposite.
        const bool whole =
            *number != INT64_MIN && *number % form.factor == 0 && *number / form.factor >= 0;
        if (!whole) return std::nullopt;
    }
    if (form.factor == 1) return rest;
    return pool.apply(ir::SymOp::Div, *rest, pool.integer(form.factor));
}

}  // namespace lemma::edit
