// SPDX-License-Identifier: Apache-2.0
// base/checked.h — integer arithmetic that reports overflow, and the divisions of SkriptND.
#pragma once

#include <cstdint>
#include <optional>

namespace lemma {

inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
    int64_t r;
    if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
    return r;
}
inline std::optional<int64_t> checked_sub(int64_t a, int64_t b) {
    int64_t r;
    if (__builtin_sub_overflow(a, b, &r)) return std::nullopt;
    return r;
}
inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
    int64_t r;
    if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
    return r;
}

// Rounds towards minus infinity. Empty if b is 0 or the quotient does not fit.
std::optional<int64_t> floor_div(int64_t a, int64_t b);
// Rounds towards plus infinity. Empty if b is 0 or the quotient does not fit.
std::optional<int64_t> ceil_div(int64_t a, int64_t b);
// The remainder of floor_div: it has the sign of b. Empty if b is 0.
std::optional<int64_t> floor_mod(int64_t a, int64_t b);
// Exact power. Empty on overflow or with a negative exponent.
std::optional<int64_t> checked_pow(int64_t base, int64_t exponent);

}  // namespace lemma
