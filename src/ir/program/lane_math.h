// SPDX-License-Identifier: Apache-2.0
// ir/program/lane_math.h — the scalar operations of kernels. They are total, because kernels
// compute both sides of a selection. Integers wrap around, division by zero gives 0, `int(x)`
// saturates and NaN gives 0 (docs/numerics.md, "Integers").
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/checked.h"
#include "ir/symbols/scalar_math.h"

namespace lemma::ir {

inline int64_t wrapping_mul(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
inline int64_t wrapping_add(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline std::optional<int64_t> checked_abs(int64_t a) { return a < 0 ? checked_sub(0, a) : a; }
inline int64_t total_div(int64_t a, int64_t b) {
    return b == -1 ? wrapping_mul(a, -1) : floor_div(a, b).value_or(0);
}
inline int64_t total_mod(int64_t a, int64_t b) { return floor_mod(a, b).value_or(0); }
inline int64_t total_pow(int64_t base, int64_t exponent) {
    if (exponent < 0) return 0;
    int64_t result = 1;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1) result = wrapping_mul(result, base);
        base = wrapping_mul(base, base);
    }
    return result;
}
inline int64_t to_int(double value) {
    using Limits = std::numeric_limits<int64_t>;
    if (const auto whole = truncate_to_int(value)) return *whole;
    if (std::isnan(value)) return 0;
    return value < 0 ? Limits::min() : Limits::max();
}
// The nearest float. The sum, difference, product, quotient or root of floats, computed in double
// and then rounded, is the one of float arithmetic: double has more than twice the digits.
inline double to_float(double value) { return static_cast<float>(value); }

}  // namespace lemma::ir
