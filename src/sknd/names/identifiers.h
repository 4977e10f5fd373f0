// SPDX-License-Identifier: Apache-2.0
// sknd/names/identifiers.h — walks the operands of an expression, without recursion.
#pragma once

#include <vector>

#include "base/match.h"
#include "sknd/syntax/ast.h"

namespace lemma::sknd {

// Appends the existing direct operands of `expr`, in the written order.
void append_operands(const Module& module, ExprId expr, std::vector<ExprId>& operands);

template <class Visit>
void for_each_identifier(const Module& module, ExprId expr, const Visit& visit) {
    if (!expr.valid()) return;
    if (const auto* identifier = std::get_if<Identifier>(&module.exprs[expr].node)) {
        visit(identifier->name, expr);
        return;
    }
    std::vector<ExprId> pending = {expr};
    while (!pending.empty()) {
        const ExprId id = pending.back();
        pending.pop_back();
        if (const auto* identifier = std::get_if<Identifier>(&module.exprs[id].node)) {
            visit(identifier->name, id);
        }
        append_operands(module, id, pending);
    }
}

}  // namespace lemma::sknd
