// SPDX-License-Identifier: Apache-2.0
#include "loop/ir/int_ranges.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "base/checked.h"
#include "base/match.h"
#include "tensor/dtype.h"

namespace lemma::loop {

namespace {

// From the least to the greatest of the numbers; everything if one is missing.
IntRange around(std::initializer_list<std::optional<int64_t>> numbers) {
    IntRange result{INT64_MAX, INT64_MIN};
    for (const std::optional<int64_t>& number : numbers) {
        if (!number) return {};
        result.low = std::min(result.low, *number);
        result.high = std::max(result.high, *number);
    }
    return result;
}

IntRange product(IntRange a, IntRange b) {
    return around({checked_mul(a.low, b.low),
                   checked_mul(a.low, b.high),
                   checked_mul(a.high, b.low),
                   checked_mul(a.high, b.high)});
}

IntRange sum(IntRange a, IntRange b) {
    return around({checked_add(a.low, b.low), checked_add(a.high, b.high)});
}

IntRange negated(IntRange a) { return product(a, {-1, -1}); }

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

IntRange range_of(tensor::DType dtype) {
    const int64_t bits = tensor::dtype_size(dtype) * 8;
    if (kind_of(dtype) != Kind::Int || bits > 32) return {};
    if (!tensor::is_signed(dtype)) return {0, (int64_t{1} << bits) - 1};
    const int64_t half = int64_t{1} << (bits - 1);
    return {-half, half - 1};
}

}  // namespace

IntRanges::IntRanges(const Function& function)
    : f_(function), vars_(function.vars.size()), bound_(function.vars.size()) {
    if (f_.item.valid() && f_.items > 0) bind(f_.item, {0, f_.items - 1});
    block(f_.body);
}

// A variable with several values has no range.
void IntRanges::bind(VarId var, IntRange range) {
    const bool again = bound_[var.value];
    if (again) known_.clear();
    vars_[var.value] = again ? IntRange{} : range;
    bound_[var.value] = true;
}

void IntRanges::block(const Block& statements) {
    for (const Stmt& statement : statements) {
        if (const auto* const bound = std::get_if<Bind>(&statement.node)) {
            bind(bound->var, of(bound->value));
        } else if (const auto* const all = std::get_if<For>(&statement.node)) {
            const IntRange begin = of(all->begin);
            const IntRange end = of(all->end);
            const bool known = end.high > INT64_MIN && begin.low > INT64_MIN;
            const int64_t last = known ? std::max(begin.low, end.high - 1) : INT64_MAX;
            bind(all->var, known ? IntRange{begin.low, last} : IntRange{});
            block(all->body);
        } else if (const auto* const branch = std::get_if<If>(&statement.node)) {
            block(branch->body);
        }
    }
}

IntRange IntRanges::of(ExprId value) {
    if (const auto found = known_.find(value); found != known_.end()) return found->second;
    const IntRange result = compute(f_[value]);
    known_[value] = result;
    return result;
}

IntRange IntRanges::compute(const Expr& e) {
    if (e.type.kind != Kind::Int) return {};
    const auto arg = [&](size_t i) { return of(e.args[i]); };
    switch (e.op) {
        case Op::Constant:
            return {e.integer, e.integer};
        case Op::Var:
            return vars_[static_cast<size_t>(e.integer)];
        case Op::Ramp:
            return {0, e.type.lanes - 1};
        case Op::Load:
            return range_of(f_.buffers[e.buffer.value].dtype);
        case Op::Broadcast:
            return arg(0);
        case Op::Cast: {
            const Kind from = f_[e.args[0]].type.kind;
            if (from == Kind::Bool) return {0, 1};
            return from == Kind::I32 ? IntRange{INT32_MIN, INT32_MAX} : IntRange{};
        }
        case Op::Add:
            return sum(arg(0), arg(1));
        case Op::Sub:
            return sum(arg(0), negated(arg(1)));
        case Op::Mul:
            return product(arg(0), arg(1));
        case Op::Fma:
            return sum(product(arg(0), arg(1)), arg(2));
        case Op::Neg:
            return negated(arg(0));
        case Op::Min: {
            const IntRange a = arg(0), b = arg(1);
            return {std::min(a.low, b.low), std::min(a.high, b.high)};
        }
        case Op::Max: {
            const IntRange a = arg(0), b = arg(1);
            return {std::max(a.low, b.low), std::max(a.high, b.high)};
        }
        case Op::Select: {
            const IntRange a = arg(1), b = arg(2);
            return {std::min(a.low, b.low), std::max(a.high, b.high)};
        }
        case Op::Div: {
            const IntRange a = arg(0), by = arg(1);
            if (by.low != by.high || by.low <= 0) return {};
            return {floor_div(a.low, by.low), floor_div(a.high, by.low)};
        }
        case Op::Mod: {
            const IntRange a = arg(0), by = arg(1);
            if (by.low != by.high || by.low <= 0) return {};
            return {0, a.is_positive() ? std::min(a.high, by.low - 1) : by.low - 1};
        }
        default:
            return {};
    }
}

IntRange IntRanges::of(const Address& address) {
    IntRange result{0, 0};
    for (const AddressTerm& term : address.terms) {
        result = sum(result, product(of(term.var), {term.factor, term.factor}));
    }
    return address.dynamic.valid() ? sum(result, of(address.dynamic)) : result;
}

int64_t IntRanges::divisor_of(ExprId value) const {
    constexpr int64_t kMost = int64_t{1} << 20;
    const Expr& e = f_[value];
    switch (e.op) {
        case Op::Constant:
            return e.integer == 0 ? kMost : std::gcd(e.integer, kMost);
        case Op::Add:
        case Op::Sub:
            return std::gcd(divisor_of(e.args[0]), divisor_of(e.args[1]));
        case Op::Mul:
            return std::min(kMost, divisor_of(e.args[0]) * divisor_of(e.args[1]));
        default:
            return 1;
    }
}

}  // namespace lemma::loop
