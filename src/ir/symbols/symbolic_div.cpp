// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic_div.cpp — division and modulo of int expressions. There is one form only:
// division rounds down. In a division by a constant, the divisor divides no term of the numerator,
// the constant term lies in [0, divisor), and the first coefficient is positive. So (n - 1)/2 + 1
// and (n + 1)/2 are the same node, and rounding up adds divisor - 1 to the numerator.
#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "ir/symbols/symbolic_impl.h"

namespace lemma::ir {

namespace {

constexpr int kMaxOpenings = 64;

// The common divisor of all coefficients, constants included.
int64_t common_divisor(const Terms& a, const Terms& b) {
    uint64_t divisor = 0;
    for (const Terms* terms : {&a, &b})
        for (const Term& term : *terms) {
            const auto c = static_cast<uint64_t>(term.coef);
            divisor = std::gcd(divisor, term.coef < 0 ? uint64_t{0} - c : c);
        }
    return divisor > static_cast<uint64_t>(kInt64Max) ? 1 : static_cast<int64_t>(divisor);
}

// Empty if b does not divide a.
std::optional<int64_t> exact_quotient(int64_t a, int64_t b) {
    if (b == -1) return checked_sub(0, a);
    return a % b == 0 ? std::optional(a / b) : std::nullopt;
}

void divide_all(Terms& terms, int64_t divisor) {
    for (Term& term : terms) term.coef /= divisor;
}

}  // namespace

std::optional<SymbolPool::Impl::Split> SymbolPool::Impl::split_by(const Terms& a, const Terms& b) {
    if (b.size() == 1) {
        Split split;
        for (const Term& term : a) {
            const auto mono = divide(term.mono, b[0].mono);
            const auto factor = exact_quotient(term.coef, b[0].coef);
            if (mono && factor)
                split.quotient.push_back({*mono, *factor});
            else
                split.rest.push_back(term);
        }
        std::ranges::sort(split.quotient, {}, &Term::mono);
        return split;
    }
    // a = k*b + constant
    const Term& lead = b.back();
    const auto same = std::ranges::find(a, lead.mono, &Term::mono);
    if (same == a.end()) return std::nullopt;
    const auto factor = exact_quotient(same->coef, lead.coef);
    if (!factor) return std::nullopt;
    const SymFault before = fault;
    const auto scaled_b = scaled(b, *factor);
    const auto rest = scaled_b ? sum(a, *scaled_b, -1) : std::nullopt;
    if (!rest) fault = before;
    if (!rest || content(*rest) != 0) return std::nullopt;
    return Split{{{kUnit, *factor}}, *rest};
}

MaybeSym SymbolPool::Impl::floor_div(SymId a, SymId b) {
    const auto x = as_int(a), y = as_int(b);
    if (y && *y == 0) return fail(SymFault::DivisionByZero);
    if (x && y) {
        const auto value = lemma::floor_div(*x, *y);
        return value ? integer(*value) : fail(SymFault::Overflow);
    }
    if (y && *y != kInt64Min) {
        auto terms = *y < 0 ? scaled(terms_of(a), -1) : terms_of(a);
        return terms ? floor_div_constant(std::move(*terms), *y < 0 ? -*y : *y) : std::nullopt;
    }
    Terms numerator = terms_of(a), divisor = terms_of(b);
    if (leads_negative(divisor)) {
        const auto p = scaled(numerator, -1), q = scaled(divisor, -1);
        if (p && q) numerator = *p, divisor = *q;
        fault = SymFault::None;
    }
    if (const int64_t shared = common_divisor(numerator, divisor); shared > 1) {
        divide_all(numerator, shared);
        divide_all(divisor, shared);
    }
    Terms whole;
    if (excludes_zero(range_of(divisor))) {
        if (auto split = split_by(numerator, divisor)) {
            whole = std::move(split->quotient);
            numerator = std::move(split->rest);
        }
        if (const auto value = only_value(interval_div(range_of(numerator), range_of(divisor)))) {
            const auto total = sum(whole, Terms{{kUnit, *value}}, 1);
            return total ? from_terms(*total) : std::nullopt;
        }
    }
    const MaybeSym p = from_terms(numerator), q = from_terms(divisor);
    if (!p || !q) return std::nullopt;
    if (as_int(*q) && *as_int(*q) != kInt64Min) return floor_div(*p, *q);
    const SymId operand_list[] = {*p, *q};
    const MaybeSym quotient = make(SymOp::Div, ScalarType::Int, operand_list);
    const MaybeSym base = from_terms(whole);
    return quotient && base ? add(*base, *quotient, 1) : std::nullopt;
}

MaybeSym SymbolPool::Impl::ceil_div(SymId a, SymId b) {
    const auto x = as_int(a), y = as_int(b);
    if (y && *y == 0) return fail(SymFault::DivisionByZero);
    if (x && y) {
        const auto value = lemma::ceil_div(*x, *y);
        return value ? integer(*value) : fail(SymFault::Overflow);
    }
    if (y && *y != kInt64Min) {
        auto terms = *y < 0 ? scaled(terms_of(a), -1) : terms_of(a);
        const int64_t c = *y < 0 ? -*y : *y;
        if (terms && c > 1) terms = sum(*terms, Terms{{kUnit, c - 1}}, 1);
        return terms ? floor_div_constant(std::move(*terms), c) : std::nullopt;
    }
    const MaybeSym minus_a = negate(a);
    const MaybeSym quotient = minus_a ? floor_div(*minus_a, b) : std::nullopt;
    return quotient ? negate(*quotient) : std::nullopt;
}

// Takes out the terms that c divides, then the common divisor of the rest and c.
MaybeSym SymbolPool::Impl::floor_div_constant(Terms a, int64_t c) {
    if (c == 1) return from_terms(a);
    Terms whole, rest;
    for (const Term& term : a) {
        const int64_t quotient = *lemma::floor_div(term.coef, c);
        const int64_t remainder = *floor_mod(term.coef, c);
        if (term.mono == kUnit) {
            if (quotient != 0) whole.push_back({kUnit, quotient});
            if (remainder != 0) rest.push_back({kUnit, remainder});
        } else if (remainder == 0) {
            whole.push_back({term.mono, quotient});
        } else {
            rest.push_back(term);
        }
    }
    const auto shared = static_cast<int64_t>(std::gcd(content(rest), static_cast<uint64_t>(c)));
    if (content(rest) == 0) return from_terms(whole);
    if (shared > 1) {
        const int64_t constant = constant_of(rest) / shared;
        divide_all(rest, shared);
        set_constant(rest, constant);
    }
    const MaybeSym quotient = floor_div_reduced(std::move(rest), c / shared);
    const MaybeSym base = from_terms(whole);
    return quotient && base ? add(*base, *quotient, 1) : std::nullopt;
}

// floor(a / c) where c divides no coefficient of a, and 0 <= constant < c.
MaybeSym SymbolPool::Impl::floor_div_reduced(Terms a, int64_t c) {
    const Interval range = range_of(a);
    if (range.low != kInt64Min && range.high != kInt64Max) {
        const int64_t low = *lemma::floor_div(range.low, c);
        if (low == *lemma::floor_div(range.high, c)) return integer(low);
    }
    // (d/e + k)/c = (d + k*e)/(e*c), and -(d/e) = (e - 1 - d)/e.
    const int64_t k = constant_of(a);
    const Term& lead = a.back();
    const SymId atom = linear_atom(lead);
    if (a.size() == (k != 0 ? 2u : 1u) && atom && is_op(atom, SymOp::Div) &&
        (lead.coef == 1 || lead.coef == -1)) {
        const auto e = as_int(operand(atom, 1));
        const auto divisor = e && *e > 0 ? checked_mul(*e, c) : std::nullopt;
        const auto offset = e ? checked_mul(k, *e) : std::nullopt;
        if (divisor && offset) {
            const int64_t up = lead.coef == 1 ? 0 : *e - 1;
            const auto constant = checked_add(*offset, up);
            const auto inner = scaled(terms_of(operand(atom, 0)), lead.coef);
            const auto numerator = constant && inner && *constant != 0
                                       ? sum(*inner, Terms{{kUnit, *constant}}, 1)
                                       : inner;
            if (constant && numerator) return floor_div_constant(*numerator, *divisor);
            fault = SymFault::None;
        }
    }
    const bool flip = leads_negative(a);
    if (flip) {
        const auto minus = scaled(a, -1);
        if (!minus) return std::nullopt;
        a = *minus;
        set_constant(a, c - 1 - k);
    }
    const MaybeSym numerator = from_terms(a);
    if (!numerator) return std::nullopt;
    const SymId operand_list[] = {*numerator, integer(c)};
    const MaybeSym quotient = make(SymOp::Div, ScalarType::Int, operand_list);
    return quotient && flip ? negate(*quotient) : quotient;
}

MaybeSym SymbolPool::Impl::modulo(SymId a, SymId b) {
    const auto x = as_int(a), y = as_int(b);
    if (y && *y == 0) return fail(SymFault::DivisionByZero);
    if (x && y) return integer(*floor_mod(*x, *y));
    Terms value = terms_of(a), divisor = terms_of(b);
    // a % -b = -(-a % b)
    bool flip = (y && *y < 0 && *y != kInt64Min) || leads_negative(divisor);
    if (flip) {
        const auto p = scaled(value, -1), q = scaled(divisor, -1);
        if (p && q)
            value = *p, divisor = *q;
        else
            flip = false;
        fault = SymFault::None;
    }
    MaybeSym result;
    if (divisor.size() == 1 && divisor[0].mono == kUnit && divisor[0].coef > 0) {
        result = modulo_constant(std::move(value), divisor[0].coef);
    } else {
        if (excludes_zero(range_of(divisor))) {
            if (auto split = split_by(value, divisor)) value = std::move(split->rest);
            if (value.empty()) return integer(0);
        }
        const auto above = sum(value, divisor, -1);
        fault = SymFault::None;
        const Interval difference = above ? range_of(*above) : kAnyInt;
        if (range_of(value).low >= 0 && difference.high < 0) {
            result = from_terms(value);
        } else {
            const MaybeSym p = from_terms(value), q = from_terms(divisor);
            if (!p || !q) return std::nullopt;
            const SymId operand_list[] = {*p, *q};
            result = make(SymOp::Mod, ScalarType::Int, operand_list);
        }
    }
    return result && flip ? negate(*result) : result;
}

// Replaces one x % (c*k) by x, which is the same modulo c; false if there is none.
bool SymbolPool::Impl::open_modulo(Terms& a, int64_t c) {
    for (size_t i = 0; i < a.size(); ++i) {
        const SymId atom = linear_atom(a[i]);
        if (!atom || !is_op(atom, SymOp::Mod)) continue;
        const auto modulus = as_int(operand(atom, 1));
        if (!modulus || *modulus % c != 0) continue;
        Terms without = a;
        without.erase_at(i);
        const auto opened = sum(without, terms_of(operand(atom, 0)), a[i].coef);
        fault = SymFault::None;
        if (!opened || opened->size() > kMaxPolynomialTerms) continue;
        a = *opened;
        return true;
    }
    return false;
}

MaybeSym SymbolPool::Impl::modulo_constant(Terms a, int64_t c) {
    const Interval range = range_of(a);
    if (range.low >= 0 && range.high < c) return from_terms(a);
    for (int i = 0; i < kMaxOpenings && open_modulo(a, c); ++i) continue;
    a.erase_if([&](Term& term) {
        term.coef = *floor_mod(term.coef, c);
        return term.coef == 0;
    });
    const auto shared = static_cast<int64_t>(std::gcd(content(a), static_cast<uint64_t>(c)));
    if (content(a) == 0) return integer(constant_of(a));
    const int64_t low_part = constant_of(a) % shared;
    if (shared > 1) {
        const int64_t constant = constant_of(a) / shared;
        divide_all(a, shared);
        set_constant(a, constant);
    }
    const Interval reduced = range_of(a);
    MaybeSym result = from_terms(a);
    if (result && (reduced.low < 0 || reduced.high >= c / shared)) {
        const SymId operand_list[] = {*result, integer(c / shared)};
        result = make(SymOp::Mod, ScalarType::Int, operand_list);
    }
    const MaybeSym scaled_up = result ? multiply(*result, integer(shared)) : std::nullopt;
    return scaled_up ? add_constant(*scaled_up, low_part) : std::nullopt;
}

}  // namespace lemma::ir
