// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic_range.cpp — interval arithmetic. A low end of INT64_MIN and a high end of
// INT64_MAX mean "no bound". The operations treat them as infinite, never as numbers; a result that
// does not fit becomes infinite.
#include <algorithm>

#include "ir/symbols/scalar_math.h"
#include "ir/symbols/symbolic_impl.h"

namespace lemma::ir {

namespace {

__extension__ typedef __int128 Wide;

// Larger than any product of two numbers; saturates.
constexpr Wide kInfinite = Wide{1} << 126;

struct Ends {
    Wide low, high;
};

Ends open(Interval a) {
    return {a.low == kInt64Min ? -kInfinite : Wide{a.low},
            a.high == kInt64Max ? kInfinite : Wide{a.high}};
}

int64_t clamp(Wide end) {
    return static_cast<int64_t>(std::clamp(end, Wide{kInt64Min}, Wide{kInt64Max}));
}

Interval close(Ends a) { return {clamp(a.low), clamp(a.high)}; }

bool infinite(Wide a) { return a >= kInfinite || a <= -kInfinite; }

// Infinities of different signs never meet: low ends are added to low ends.
Wide add(Wide a, Wide b) { return infinite(a) ? a : infinite(b) ? b : a + b; }

Wide multiply(Wide a, Wide b) {
    if (a == 0 || b == 0) return 0;
    if (infinite(a) || infinite(b)) return (a < 0) != (b < 0) ? -kInfinite : kInfinite;
    const Wide limit = Wide{1} << 63;
    if (a > limit || a < -limit || b > limit || b < -limit)
        return (a < 0) != (b < 0) ? -kInfinite : kInfinite;
    return a * b;
}

// b is positive.
Wide divide(Wide a, Wide b) {
    if (infinite(a)) return a;
    if (infinite(b)) return a < 0 ? -1 : 0;
    return a / b - (a % b < 0 ? 1 : 0);
}

Ends minus(Ends a) { return {-a.high, -a.low}; }

Interval hull(Interval a, Interval b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Ends absolute(Ends a) {
    if (a.low >= 0) return a;
    if (a.high <= 0) return minus(a);
    return {0, std::max(-a.low, a.high)};
}

Interval div_by_positive(Ends a, Ends b) {
    return close({std::min(divide(a.low, b.low), divide(a.low, b.high)),
                  std::max(divide(a.high, b.low), divide(a.high, b.high))});
}

}  // namespace

Interval interval_add(Interval a, Interval b) {
    if (a.low == 0 && a.high == 0) return b;
    const Ends x = open(a), y = open(b);
    return close({add(x.low, y.low), add(x.high, y.high)});
}

Interval interval_mul(Interval a, Interval b) {
    if (a.low == 1 && a.high == 1) return b;
    const Ends x = open(a), y = open(b);
    const auto [low, high] = std::minmax({multiply(x.low, y.low),
                                          multiply(x.low, y.high),
                                          multiply(x.high, y.low),
                                          multiply(x.high, y.high)});
    return close({low, high});
}

Interval interval_pow(Interval a, uint32_t power) {
    if (power == 0) return {1, 1};
    if (power == 1) return a;
    const Ends x = power % 2 == 0 ? absolute(open(a)) : open(a);
    // Monotonic from here on.
    const auto raise = [&](Wide end) {
        Wide value = end;
        for (uint32_t i = 1; i < power; ++i) value = multiply(value, end);
        return value;
    };
    return close({raise(x.low), raise(x.high)});
}

Interval interval_div(Interval a, Interval b) {
    // Division by zero has no value, so the divisor excludes zero.
    const Ends x = open(a), y = open(b);
    std::optional<Interval> result;
    if (y.high > 0) result = div_by_positive(x, {std::max<Wide>(y.low, 1), y.high});
    if (y.low < 0) {
        const Interval other =
            div_by_positive(minus(x), minus({y.low, std::min<Wide>(y.high, -1)}));
        result = result ? hull(*result, other) : other;
    }
    return result.value_or(kAnyInt);
}

Interval interval_mod(Interval a, Interval b) {
    const Ends x = open(a), y = open(b);
    Ends result{0, 0};
    if (y.high > 0) result.high = y.high - 1;
    if (y.low < 0) result.low = y.low + 1;
    if (y.low >= 0 && x.low >= 0) result.high = std::min(result.high, x.high);
    if (y.high <= 0 && x.high <= 0) result.low = std::max(result.low, x.low);
    return close(result);
}

Interval interval_abs(Interval a) { return close(absolute(open(a))); }

bool excludes_zero(Interval a) { return a.low > 0 || a.high < 0; }

std::optional<int64_t> only_value(Interval a) {
    if (a.low != a.high || a.low == kInt64Min || a.low == kInt64Max) return std::nullopt;
    return a.low;
}

Interval SymbolPool::Impl::range_of(const Terms& terms) const {
    Interval total{0, 0};
    for (const Term& term : terms) {
        Interval product{term.coef, term.coef};
        for (const Factor& factor : factors(term.mono))
            product = interval_mul(product, interval_pow(node(factor.atom).range, factor.power));
        total = interval_add(total, product);
    }
    return total;
}

Interval SymbolPool::Impl::op_range(SymOp op,
                                    std::span<const SymId> operand_list,
                                    uint32_t name) const {
    const Interval first = node(operand_list[0]).range;
    const auto second = [&] { return node(operand_list[1]).range; };
    switch (op) {
        case SymOp::Add:
            return interval_add(first, second());
        case SymOp::Mul:
            return interval_mul(first, second());
        case SymOp::Div:
            return interval_div(first, second());
        case SymOp::Mod:
            return interval_mod(first, second());
        case SymOp::Pow: {
            const auto exponent = as_int(operand_list[1]);
            if (exponent && *exponent <= 64)
                return interval_pow(first, static_cast<uint32_t>(*exponent));
            if (first.low >= 1) return {1, kInt64Max};
            if (first.low >= 0) return {0, kInt64Max};
            return kAnyInt;
        }
        case SymOp::Min:
        case SymOp::Max: {
            Interval result = first;
            for (const SymId id : operand_list.subspan(1)) {
                const Interval other = node(id).range;
                result = op == SymOp::Min ? Interval{std::min(result.low, other.low),
                                                     std::min(result.high, other.high)}
                                          : Interval{std::max(result.low, other.low),
                                                     std::max(result.high, other.high)};
            }
            return result;
        }
        case SymOp::Select:
            return hull(second(), node(operand_list[2]).range);
        case SymOp::ToInt:
            return node(operand_list[0]).type == ScalarType::Bool ? Interval{0, 1} : kAnyInt;
        case SymOp::Function:
            if (names[name] == "abs") return interval_abs(first);
            if (names[name] == "sign")
                return {first.low > 0   ? 1
                        : first.low < 0 ? -1
                                        : 0,
                        first.high > 0   ? 1
                        : first.high < 0 ? -1
                                         : 0};
            return kAnyInt;
        default:
            return kAnyInt;
    }
}

}  // namespace lemma::ir
