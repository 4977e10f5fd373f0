// driver/show/amount.h — counts of a model whose extents may be known only up to a bound: how many,
// and whether that is exact.
#pragma once

#include <cstdint>
#include <string>

#include "ir/program/program.h"

namespace lemma::driver {

// Symbolic extents count at their upper bounds, which makes the amount an upper bound itself. What
// has no bound counts once and makes it a lower bound. Never overflows: it stays at INT64_MAX, as a
// lower bound.
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
// The larger one; what is uncertain in either is so in the result.
Amount larger(Amount a, Amount b);

// An extent, or any other count that is an expression.
Amount amount_of(const ir::SymbolPool& symbols, ir::SymId id);
// The elements of a tensor, and their bytes in memory.
Amount volume(const ir::Program& program, ir::TensorId tensor);
Amount bytes(const ir::Program& program, ir::TensorId tensor);

// `23,296`, `≤1,000`, `-` for nothing
std::string count_text(Amount amount);
// `512 B`, `≤1.5 MiB`, `-` for nothing
std::string bytes_text(Amount amount);

}  // namespace lemma::driver
