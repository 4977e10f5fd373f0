// SPDX-License-Identifier: Apache-2.0
// Conversions of the 16-bit formats: from double in one rounding, to nearest with ties to even.
#include <algorithm>
#include <bit>
#include <cmath>

#include "tensor/tensor.h"

namespace lemma::tensor {

namespace {

// Rounds |value| to `fraction` bits after the leading one, with exponents from `min_exponent` on.
double round_significand(double value, int fraction, int min_exponent) {
    const int exponent = std::max(std::ilogb(value), min_exponent);
    const double unit = std::ldexp(1.0, exponent - fraction);
    return std::nearbyint(value / unit) * unit;
}

}  // namespace

double from_f16(uint16_t bits) {
    const int exponent = (bits >> 10) & 31;
    const int fraction = bits & 1023;
    const double sign = bits & 0x8000 ? -1.0 : 1.0;
    if (exponent == 31) return fraction ? std::nan("") : sign * HUGE_VAL;
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(1024 + fraction, exponent - 25);
}

uint16_t to_f16(double value) {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return sign | 0x7e00;
    double magnitude = std::fabs(value);
    if (magnitude == 0) return sign;
    if (!std::isinf(magnitude)) magnitude = round_significand(magnitude, 10, -14);
    if (magnitude >= 65536.0) return sign | 0x7c00;
    if (magnitude < std::ldexp(1.0, -14)) {
        return sign | static_cast<uint16_t>(std::ldexp(magnitude, 24));
    }
    const int exponent = std::ilogb(magnitude);
    const int fraction = static_cast<int>(std::ldexp(magnitude, 10 - exponent)) - 1024;
    return sign | static_cast<uint16_t>(((exponent + 15) << 10) + fraction);
}

double from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t to_bf16(double value) {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return sign | 0x7fc0;
    double magnitude = std::fabs(value);
    if (magnitude == 0) return sign;
    if (!std::isinf(magnitude)) magnitude = round_significand(magnitude, 7, -126);
    const float narrow = static_cast<float>(magnitude);  // exact, or infinite
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(narrow) >> 16);
}

}  // namespace lemma::tensor
