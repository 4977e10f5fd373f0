// loop/lane_math.h — the scalar operations of kernels, total: integers wrap around and a division
// by zero gives 0, for a branch that is not taken may do either.
#pragma once

#include <cstdint>

#include "base/checked.h"
#include "ir/scalar_math.h"

namespace lemma::loop {

inline int64_t wrapping_mul(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
inline int64_t wrapping_add(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t total_div(int64_t a, int64_t b) { return floor_div(a, b).value_or(0); }
inline int64_t total_mod(int64_t a, int64_t b) { return floor_mod(a, b).value_or(0); }
inline int64_t total_pow(int64_t a, int64_t b) { return checked_pow(a, b).value_or(0); }
inline int64_t to_int(double value) { return ir::truncate_to_int(value).value_or(0); }
inline double real_min(double a, double b) { return ir::real_min(a, b); }
inline double real_max(double a, double b) { return ir::real_max(a, b); }

}  // namespace lemma::loop
