// SPDX-License-Identifier: Apache-2.0
// edit/linear.h — extents of the form c*A + d with one unknown A, and their solution for A.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/symbols/symbolic.h"

namespace lemma::edit {

struct Linear {
    ir::SymId atom;  // a symbol or an operation
    int64_t factor = 1;
    int64_t offset = 0;
};
// Empty for constants and for sums of several unknowns.
std::optional<Linear> linear_form(const ir::SymbolPool& pool, ir::SymId id);
// (value - d) / c in the pool of `value`; empty if a constant value does not divide, or gives less
// than zero.
std::optional<ir::SymId> solve(ir::SymbolPool& pool, const Linear& form, ir::SymId value);

}  // namespace lemma::edit
