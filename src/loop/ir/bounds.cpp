// SPDX-License-Identifier: Apache-2.0
#include "loop/ir/bounds.h"

#include <algorithm>
#include <cmath>

namespace lemma::loop {

namespace {

constexpr int kMostDepth = 8;

struct Bounds {
    double low = -HUGE_VAL, high = HUGE_VAL;
};

Bounds bounds_of(const Function& f, ExprId id, int depth) {
    const Expr& e = f[id];
    if (e.op == Op::Constant && e.type.real()) return {e.real, e.real};
    if (depth == 0) return {};
    const auto arg = [&](size_t i) { return bounds_of(f, e.args[i], depth - 1); };
    switch (e.op) {
        case Op::Broadcast:
        case Op::Cast:
            return f[e.args[0]].type.real() ? arg(0) : Bounds{};
        case Op::Min: {
            const Bounds a = arg(0);
            const Bounds b = arg(1);
            return {std::min(a.low, b.low), std::min(a.high, b.high)};
        }
        case Op::Max: {
            const Bounds a = arg(0);
            const Bounds b = arg(1);
            return {std::max(a.low, b.low), std::max(a.high, b.high)};
        }
        case Op::Add: {
            const Bounds a = arg(0);
            const Bounds b = arg(1);
            return {a.low + b.low, a.high + b.high};
        }
        case Op::Rint:
        case Op::Round:
        case Op::Trunc:
        case Op::Floor:
        case Op::Ceil: {
            const Bounds a = arg(0);
            return {std::floor(a.low), std::ceil(a.high)};
        }
        default:
            return {};
    }
}

}  // namespace

bool fits_32_bits(const Function& function, ExprId value) {
    if (!function[value].type.real()) return false;
    const Bounds bounds = bounds_of(function, value, kMostDepth);
    // Sums may be rounded.
    return bounds.low >= -0x1p30 && bounds.high <= 0x1p30;
}

}  // namespace lemma::loop
