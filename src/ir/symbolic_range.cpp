// ir/symbolic_range.cpp — interval arithmetic. INT64_MIN and INT64_MAX as ends mean "no bound" and
// stay so through every operation; an end that does not fit becomes one of them.
#include <algorithm>

#include "base/checked.h"
#include "ir/scalar_math.h"
#include "ir/symbolic_impl.h"

namespace lemma::ir {

namespace {

bool endless(int64_t end) { return end == kInt64Min || end == kInt64Max; }

// Both ends are of the same side, so that two open ends never disagree.
int64_t add_ends(int64_t a, int64_t b) {
    if (endless(a)) return a;
    if (endless(b)) return b;
    if (const auto total = checked_add(a, b)) return *total;
    return a < 0 ? kInt64Min : kInt64Max;
}

int64_t mul_ends(int64_t a, int64_t b) {
    if (a == 0 || b == 0) return 0;
    const bool negative = (a < 0) != (b < 0);
    const auto product = endless(a) || endless(b) ? std::nullopt : checked_mul(a, b);
    return product ? *product : negative ? kInt64Min : kInt64Max;
}

// b is positive.
int64_t div_ends(int64_t a, int64_t b) {
    if (endless(a)) return a;
    if (endless(b)) return a < 0 ? -1 : 0;
    return *floor_div(a, b);
}

int64_t minus_end(int64_t a) {
    if (a == kInt64Min) return kInt64Max;
    return a == kInt64Max ? kInt64Min : -a;
}

Interval minus(Interval a) { return {minus_end(a.high), minus_end(a.low)}; }

Interval hull(Interval a, Interval b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Interval div_by_positive(Interval a, Interval b) {
    return {std::min(div_ends(a.low, b.low), div_ends(a.low, b.high)),
            std::max(div_ends(a.high, b.low), div_ends(a.high, b.high))};
}

}  // namespace

Interval interval_add(Interval a, Interval b) {
    return {add_ends(a.low, b.low), add_ends(a.high, b.high)};
}

Interval interval_mul(Interval a, Interval b) {
    const auto [low, high] = std::minmax({mul_ends(a.low, b.low),
                                          mul_ends(a.low, b.high),
                                          mul_ends(a.high, b.low),
                                          mul_ends(a.high, b.high)});
    return {low, high};
}

Interval interval_pow(Interval a, uint32_t power) {
    if (power == 0) return {1, 1};
    if (power % 2 == 0) a = interval_abs(a);
    // Monotonic from here on.
    const auto raise = [&](int64_t end) {
        const int64_t base = end < 0 ? minus_end(end) : end;
        int64_t value = base;
        for (uint32_t i = 1; i < power; ++i) value = mul_ends(value, base);
        return end < 0 ? minus_end(value) : value;
    };
    return {raise(a.low), raise(a.high)};
}

Interval interval_div(Interval a, Interval b) {
    // Division by zero has no value, so zero is left out of the divisor.
    std::optional<Interval> result;
    if (b.high > 0) result = div_by_positive(a, {std::max<int64_t>(b.low, 1), b.high});
    if (b.low < 0) {
        const Interval mirrored = minus({b.low, std::min<int64_t>(b.high, -1)});
        const Interval other = div_by_positive(minus(a), mirrored);
        result = result ? hull(*result, other) : other;
    }
    return result.value_or(kAnyInt);
}

Interval interval_mod(Interval a, Interval b) {
    Interval result{0, 0};
    if (b.high > 0) result.high = endless(b.high) ? b.high : b.high - 1;
    if (b.low < 0) result.low = endless(b.low) ? b.low : b.low + 1;
    if (b.low >= 0 && a.low >= 0) result.high = std::min(result.high, a.high);
    if (b.high <= 0 && a.high <= 0) result.low = std::max(result.low, a.low);
    return result;
}

Interval interval_abs(Interval a) {
    if (a.low >= 0) return a;
    if (a.high <= 0) return minus(a);
    return {0, std::max(minus_end(a.low), a.high)};
}

bool excludes_zero(Interval a) { return a.low > 0 || a.high < 0; }

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
