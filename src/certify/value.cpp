// SPDX-License-Identifier: Apache-2.0
#include "certify/value.h"

#include <algorithm>

namespace lemma::certify {

Value Value::rounded(double x, double c) {
    Value v{.low = x, .high = x, .clow = c, .chigh = c};
    if (x == c) return v;
    v.error = up(std::fabs(x - c));
    v.relative = kInfinity;
    return sealed(v);
}

Value Value::top() {
    return {.low = -kInfinity,
            .high = kInfinity,
            .clow = -kInfinity,
            .chigh = kInfinity,
            .error = kInfinity,
            .relative = kInfinity,
            .tiny = kInfinity,
            .nan = true};
}

Value sealed(Value v) {
    // An overflow of our own arithmetic gives NaN here.
    if (!(v.low >= -kInfinity)) v.low = -kInfinity;
    if (!(v.high <= kInfinity)) v.high = kInfinity;
    if (!(v.clow >= -kInfinity)) v.clow = -kInfinity;
    if (!(v.chigh <= kInfinity)) v.chigh = kInfinity;
    if (!(v.error >= 0)) v.error = kInfinity;
    if (!(v.relative >= 0) || !(v.tiny >= 0)) v.relative = v.tiny = kInfinity;
    if (v.error == 0) {
        v.relative = v.tiny = 0;
        return v;
    }
    const double spread = up(std::max(v.chigh - v.low, v.high - v.clow));
    if (spread < v.error) v.error = std::max(spread, 0.0);
    if (v.relative < kInfinity) {
        const double bound = up(up(v.relative * v.size()) + v.tiny);
        if (bound < v.error) v.error = bound;
    }
    if (v.error == kInfinity) return v;
    if (const double least = v.least(); least > 0) {
        const double relative = up(v.error / least);
        if (relative < v.relative) v.relative = relative, v.tiny = 0;
    }
    const double lowest = down(v.low - v.error), highest = up(v.high + v.error);
    if (v.clow < lowest && lowest <= v.chigh) v.clow = lowest;
    if (v.chigh > highest && highest >= v.clow) v.chigh = highest;
    return v;
}

Value join(const Value& a, const Value& b) {
    return {.low = std::min(a.low, b.low),
            .high = std::max(a.high, b.high),
            .clow = std::min(a.clow, b.clow),
            .chigh = std::max(a.chigh, b.chigh),
            .error = std::max(a.error, b.error),
            .relative = std::max(a.relative, b.relative),
            .tiny = std::max(a.tiny, b.tiny),
            .nan = a.nan || b.nan,
            .nonzero = a.nonzero && b.nonzero,
            .grid = a.grid == b.grid ? a.grid : Grid::None};
}

Value cross(const Value& ideal, const Value& computed) {
    Value v{.low = ideal.low,
            .high = ideal.high,
            .clow = computed.clow,
            .chigh = computed.chigh,
            .relative = kInfinity,
            .nan = ideal.nan || computed.nan,
            .nonzero = ideal.nonzero && computed.nonzero,
            .grid = computed.grid};
    const double spread = std::max(v.chigh - v.low, v.high - v.clow);
    v.error = spread >= 0 ? up(spread) : v.low == v.chigh ? 0 : kInfinity;
    return sealed(v);
}

}  // namespace lemma::certify
