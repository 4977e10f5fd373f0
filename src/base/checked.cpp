// SPDX-License-Identifier: Apache-2.0
#include "base/checked.h"

#include <limits>

namespace lemma {

namespace {

bool divides_badly(int64_t a, int64_t b) {
    return b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1);
}

}  // namespace

std::optional<int64_t> floor_div(int64_t a, int64_t b) {
    if (divides_badly(a, b)) return std::nullopt;
    const int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::optional<int64_t> ceil_div(int64_t a, int64_t b) {
    if (divides_badly(a, b)) return std::nullopt;
    const int64_t q = a / b;
    return a % b != 0 && (a < 0) == (b < 0) ? q + 1 : q;
}

std::optional<int64_t> floor_mod(int64_t a, int64_t b) {
    if (b == 0) return std::nullopt;
    if (b == -1) return 0;
    const int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

std::optional<int64_t> checked_pow(int64_t base, int64_t exponent) {
    if (exponent < 0) return std::nullopt;
    int64_t result = 1;
    while (exponent > 0) {
        if (exponent & 1) {
            const auto product = checked_mul(result, base);
            if (!product) return std::nullopt;
            result = *product;
        }
        exponent >>= 1;
        if (exponent == 0) break;
        const auto square = checked_mul(base, base);
        if (!square) return std::nullopt;
        base = *square;
    }
    return result;
}

}  // namespace lemma
