// SPDX-License-Identifier: Apache-2.0
// ir/program/copy_expr.h — copies expressions from one pool to another. Symbols become new ones,
// except for those with a given replacement.
#pragma once

#include <optional>
#include <unordered_map>

#include "ir/symbols/symbolic.h"

namespace lemma::ir {

// kMaxSymbolicDepth bounds the recursion.
class ExprCopier {
public:
    ExprCopier(const SymbolPool& from, SymbolPool& into) : from_(from), into_(into) {}

    // The copy of an expression, wherever it occurs as a whole.
    void put(SymId id, SymId copy) { done_[id] = copy; }
    // Empty if the expression has no value for the given replacements.
    std::optional<SymId> copy(SymId id);
    const std::unordered_map<SymId, SymId, IdHash>& done() const { return done_; }

private:
    std::optional<SymId> make(SymId id);
    SymId constant(SymId id, ScalarType type);
    std::optional<SymId> polynomial(const SymNode& node);
    std::optional<SymId> operation(const SymNode& node);

    const SymbolPool& from_;
    SymbolPool& into_;
    std::unordered_map<SymId, SymId, IdHash> done_;
};

}  // namespace lemma::ir
