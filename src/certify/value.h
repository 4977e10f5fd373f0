// SPDX-License-Identifier: Apache-2.0
// certify/value.h — the abstract value of one number: bounds of what exact arithmetic gives, bounds
// of what the program computes, and bounds of the distance of the two. All bounds are rounded
// outwards.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lemma::certify {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// At least the next number above or below; a spare bit costs less than a change of rounding mode.
inline double up(double x) { return x + (std::fabs(x) * 0x1p-52 + 0x1p-1074); }
inline double down(double x) { return x - (std::fabs(x) * 0x1p-52 + 0x1p-1074); }

// The types of which a computed value is known to be a number; rounding to one of them is exact.
enum class Grid : uint8_t { None, F32, F16, BF16 };

struct Value {
    double low = 0, high = 0;    // ideal
    double clow = 0, chigh = 0;  // computed
    double error = 0;            // |computed - ideal| <= error
    // |computed - ideal| <= relative * |ideal| + tiny; tiny comes from underflow.
    double relative = 0, tiny = 0;
    bool nan = false;      // either of the two may be NaN
    bool nonzero = false;  // neither of the two is zero
    Grid grid = Grid::None;

    static Value point(double x) { return {.low = x, .high = x, .clow = x, .chigh = x}; }
    static Value between(double low, double high) {
        return {.low = low, .high = high, .clow = low, .chigh = high};
    }
    // The ideal value is x, and the computed one is c.
    static Value rounded(double x, double c);
    // Nothing is known.
    static Value top();

    bool is_point() const { return low == high && clow == chigh && low == clow && error == 0; }
    bool exact() const { return error == 0; }
    bool finite() const {
        return low > -kInfinity && high < kInfinity && clow > -kInfinity && chigh < kInfinity &&
               !nan;
    }
    double size() const { return std::fmax(std::fabs(low), std::fabs(high)); }
    double computed_size() const { return std::fmax(std::fabs(clow), std::fabs(chigh)); }
    // The least distance from 0.
    double least() const { return low > 0 ? low : high < 0 ? -high : 0; }
    double computed_least() const { return clow > 0 ? clow : chigh < 0 ? -chigh : 0; }
};

// Bounds that follow from the others.
Value sealed(Value v);
// Either of two values, the same one in both worlds.
Value join(const Value& a, const Value& b);
// The ideal value is one and the computed value is the other.
Value cross(const Value& ideal, const Value& computed);
// What the program has, as if it were ideal.
inline Value as_given(const Value& v) {
    Value given = Value::between(v.clow, v.chigh);
    given.nan = v.nan;
    given.nonzero = v.nonzero;
    given.grid = v.grid;
    return given;
}

// The largest power of two up to x; 0 for subnormals.
inline double power_below(double x) {
    return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & 0x7FF0'0000'0000'0000u);
}

}  // namespace lemma::certify
