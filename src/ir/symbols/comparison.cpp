// SPDX-License-Identifier: Apache-2.0
#include "ir/symbols/comparison.h"

namespace lemma::ir {

Comparison comparison_of(const ir::SymbolPool& symbols, ir::SymId p, ir::SymOp op) {
    Comparison result;
    const ir::SymNode node = symbols.node(p);
    std::vector<ir::SymTerm> terms = node.terms;
    if (node.kind != ir::SymKind::Polynomial) terms = {{1, {{p, 1}}}};
    int64_t constant = 0;
    for (const ir::SymTerm& term : terms) {
        if (term.factors.empty()) {
            constant = term.coefficient;
        } else if (term.coefficient > 0 || term.coefficient == INT64_MIN) {
            result.left.push_back(term);
        } else {
            result.right.push_back({-term.coefficient, term.factors});
        }
    }
    // a + 1 <= b is a < b, which needs no sum.
    result.strict = constant == 1 && op == ir::SymOp::LessEqual;
    if (constant == 0 || result.strict) return result;
    const bool to_left = constant == INT64_MIN || (result.left.empty()    ? true
                                                   : result.right.empty() ? false
                                                                          : constant > 0);
    (to_left ? result.left : result.right).push_back({to_left ? constant : -constant, {}});
    return result;
}

}  // namespace lemma::ir
