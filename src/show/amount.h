// SPDX-License-Identifier: Apache-2.0
// show/amount.h — counts of a model whose extents may only have bounds: a number, and
// whether it is exact.
#pragma once

#include <cstdint>
#include <string>

#include "ir/program/program.h"

namespace lemma::show {

// Symbolic extents count as their upper bounds, which makes the amount an upper bound. An extent
// without a bound counts as 1, which makes it a lower bound. On overflow the amount stays at
// INT64_MAX, as a lower bound.
struct Amount {
    int64_t value = 0;
    bool at_most = false;
    bool at_least = false;

    bool exact() const { return !at_most && !at_least; }
    friend bool operator==(const Amount&, const Amount&) = default;
};
Amount operator+(Amount a, Amount b);
Amount operator*(Amount a, Amount b);
inline Amount& operator+=(Amount& a, Amount b) { return a = a + b; }
// The larger amount; it is a bound if either is.
Amount larger(Amount a, Amount b);

// The amount of an extent, or of any other count that is an expression.
Amount amount_of(const ir::SymbolPool& symbols, ir::SymId id);
// The elements of a tensor, and their bytes in memory.
Amount volume(const ir::Program& program, ir::TensorId tensor);
Amount bytes(const ir::Program& program, ir::TensorId tensor);

// `23,296`, `≤1,000`, `-` for nothing
std::string count_text(Amount amount);
// `512 B`, `≤1.5 MiB`, `-` for nothing
std::string bytes_text(Amount amount);

}  // namespace lemma::show
