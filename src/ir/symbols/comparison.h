// SPDX-License-Identifier: Apache-2.0
// ir/symbols/comparison.h — the canonical form of a comparison is `p <= 0`, where p is a
// difference. A difference of large numbers wraps around, so code computes the original two sides
// instead.
#pragma once

#include <vector>

#include "ir/symbols/symbolic.h"

namespace lemma::ir {

// A side without terms is 0.
struct Comparison {
    std::vector<ir::SymTerm> left, right;
    bool strict = false;  // left < right instead of left <= right
};
// The comparison that `p <= 0` or `p == 0` represents; the latter is never strict.
Comparison comparison_of(const ir::SymbolPool& symbols, ir::SymId p, ir::SymOp op);

}  // namespace lemma::ir
