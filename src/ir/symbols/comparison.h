// ir/symbols/comparison.h — the canonical form of a comparison is `p <= 0`, where p is a
// difference. That wraps around for large numbers: it is computed from the two sides that it was.
#pragma once

#include <vector>

#include "ir/symbols/symbolic.h"

namespace lemma::ir {

// A side without terms is 0.
struct Comparison {
    std::vector<ir::SymTerm> left, right;
    bool strict = false;  // left < right, in place of left <= right
};
// The one that `p <= 0` is, or `p == 0`, which is never strict.
Comparison comparison_of(const ir::SymbolPool& symbols, ir::SymId p, ir::SymOp op);

}  // namespace lemma::ir
