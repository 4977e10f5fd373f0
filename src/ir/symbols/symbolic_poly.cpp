// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic_poly.cpp — polynomials over atoms. Monomials are interned, terms are sorted
// by monomial, and a polynomial beyond the limits becomes an atom.
#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "ir/symbols/symbolic_impl.h"

namespace lemma::ir {

namespace {

// Products with more term multiplications than this are not expanded.
constexpr size_t kMaxTermProducts = 4096;

bool by_mono(const Term& a, const Term& b) { return a.mono < b.mono; }

uint64_t magnitude(int64_t value) {
    return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

}  // namespace

// ---- monomials --------------------------------------------------------------------------------

uint64_t SymbolPool::Impl::hash_of(std::span<const Factor> factors) {
    uint64_t hash = 0x243f6a8885a308d3ull;
    for (const Factor& factor : factors) {
        hash = (hash ^ (uint64_t{factor.atom.value} << 32 | factor.power)) * 0xff51afd7ed558ccdull;
        hash ^= hash >> 29;
    }
    return hash;
}

MonoId SymbolPool::Impl::intern_mono(std::span<const Factor> sorted) {
    const uint64_t hash = hash_of(sorted);
    uint32_t degree = 0;
    for (const Factor& factor : sorted) degree += factor.power;
    const uint32_t found = mono_table.find(hash, [&](uint32_t index) {
        return std::ranges::equal(sorted, factors(make_id<MonoId>(index)));
    });
    if (found != InternTable::kNone) return make_id<MonoId>(found);

    const auto begin = static_cast<uint32_t>(factor_arena.size());
    factor_arena.insert(factor_arena.end(), sorted.begin(), sorted.end());
    monos.push_back({begin, static_cast<uint32_t>(sorted.size()), degree});
    mono_table.insert(hash, static_cast<uint32_t>(monos.size() - 1));
    return make_id<MonoId>(monos.size() - 1);
}

MonoId SymbolPool::Impl::atom_mono(SymId atom) {
    const Factor factor{atom, 1};
    return intern_mono(std::span(&factor, 1));
}

std::optional<MonoId> SymbolPool::Impl::multiply(MonoId a, MonoId b) {
    if (a == kUnit) return b;
    if (b == kUnit) return a;
    if (monos[a.value].degree + monos[b.value].degree > kMaxPolynomialDegree) return std::nullopt;
    std::vector<Factor> merged;
    const auto left = factors(a), right = factors(b);
    merged.reserve(left.size() + right.size());
    size_t i = 0, j = 0;
    while (i < left.size() || j < right.size()) {
        if (j == right.size() || (i < left.size() && left[i].atom < right[j].atom)) {
            merged.push_back(left[i++]);
        } else if (i == left.size() || right[j].atom < left[i].atom) {
            merged.push_back(right[j++]);
        } else {
            merged.push_back({left[i].atom, left[i].power + right[j].power});
            ++i, ++j;
        }
    }
    return intern_mono(merged);
}

std::optional<MonoId> SymbolPool::Impl::divide(MonoId b, MonoId a) {
    if (a == kUnit) return b;
    std::vector<Factor> rest;
    const auto whole = factors(b), part = factors(a);
    size_t j = 0;
    for (const Factor& factor : whole) {
        if (j == part.size() || factor.atom < part[j].atom) {
            rest.push_back(factor);
        } else if (factor.atom == part[j].atom && factor.power >= part[j].power) {
            if (factor.power > part[j].power)
                rest.push_back({factor.atom, factor.power - part[j].power});
            ++j;
        } else {
            return std::nullopt;
        }
    }
    if (j < part.size()) return std::nullopt;
    return intern_mono(rest);
}

// ---- terms ------------------------------------------------------------------------------------

Terms SymbolPool::Impl::terms_of(SymId id) {
    const Node& n = node(id);
    if (n.kind == NodeKind::Int) return n.bits == 0 ? Terms{} : Terms{{kUnit, n.bits}};
    if (n.kind == NodeKind::Sum) {
        return Terms(std::span<const Term>(term_arena).subspan(n.begin, n.count));
    }
    return {{atom_mono(id), 1}};
}

MaybeSym SymbolPool::Impl::from_terms(const Terms& terms) {
    if (terms.empty()) return integer(0);
    if (terms.size() == 1) {
        if (terms[0].mono == kUnit) return integer(terms[0].coef);
        const auto view = factors(terms[0].mono);
        if (terms[0].coef == 1 && view.size() == 1 && view[0].power == 1) return view[0].atom;
    }
    uint32_t depth = 0;
    for (const Term& term : terms)
        for (const Factor& factor : factors(term.mono))
            depth = std::max(depth, node(factor.atom).depth);
    if (++depth > kMaxSymbolicDepth) return fail(SymFault::TooDeep);
    return intern(
        {.kind = NodeKind::Sum, .type = ScalarType::Int, .depth = depth, .range = range_of(terms)},
        {},
        terms);
}

std::optional<Terms> SymbolPool::Impl::sum(const Terms& a, const Terms& b, int64_t factor_of_b) {
    Terms result;
    result.reserve(a.size() + b.size());
    size_t i = 0;
    for (const Term& term : b) {
        while (i < a.size() && a[i].mono < term.mono) result.push_back(a[i++]);
        std::optional<int64_t> coef = checked_mul(term.coef, factor_of_b);
        if (coef && i < a.size() && a[i].mono == term.mono) coef = checked_add(a[i++].coef, *coef);
        if (!coef) {
            fault = SymFault::Overflow;
            return std::nullopt;
        }
        if (*coef != 0) result.push_back({term.mono, *coef});
    }
    result.append(a.begin() + i, a.size() - i);
    return result;
}

std::optional<Terms> SymbolPool::Impl::scaled(const Terms& a, int64_t factor) {
    return sum({}, a, factor);
}

int64_t SymbolPool::Impl::constant_of(const Terms& terms) {
    return !terms.empty() && terms[0].mono == kUnit ? terms[0].coef : 0;
}

void SymbolPool::Impl::set_constant(Terms& terms, int64_t value) {
    const bool present = !terms.empty() && terms[0].mono == kUnit;
    if (present && value == 0) terms.erase_at(0);
    if (present && value != 0) terms[0].coef = value;
    if (!present && value != 0) terms.insert_front({kUnit, value});
}

uint64_t SymbolPool::Impl::content(const Terms& terms) {
    uint64_t divisor = 0;
    for (const Term& term : terms)
        if (term.mono != kUnit) divisor = std::gcd(divisor, magnitude(term.coef));
    return divisor;
}

SymId SymbolPool::Impl::linear_atom(const Term& term) const {
    const auto view = factors(term.mono);
    return view.size() == 1 && view[0].power == 1 ? view[0].atom : SymId{};
}

// ---- operations -------------------------------------------------------------------------------

MaybeSym SymbolPool::Impl::add(SymId a, SymId b, int64_t factor_of_b) {
    const auto x = as_int(a), y = as_int(b);
    if (x && y) {
        const auto value = factor_of_b == 1 ? checked_add(*x, *y) : checked_sub(*x, *y);
        return value ? integer(*value) : fail(SymFault::Overflow);
    }
    if (a == b && factor_of_b == -1) return integer(0);
    const auto total = sum(terms_of(a), terms_of(b), factor_of_b);
    if (!total) return std::nullopt;
    if (total->size() <= kMaxPolynomialTerms) return from_terms(*total);

    const MaybeSym right = factor_of_b == 1 ? b : negate(b);
    if (!right) return std::nullopt;
    SymId operand_list[] = {a, *right};
    arrange(operand_list);
    return make(SymOp::Add, ScalarType::Int, operand_list);
}

// Adds without a node for each step; terms beyond the limit form a separate sum.
MaybeSym SymbolPool::Impl::add_all(std::span<const SymId> operand_list) {
    MaybeSym total = integer(0);
    Terms pending;
    for (const SymId id : operand_list) {
        const Terms terms = terms_of(id);
        auto next = sum(pending, terms, 1);
        if (!next) return std::nullopt;
        if (next->size() <= kMaxPolynomialTerms) {
            pending = std::move(*next);
            continue;
        }
        const MaybeSym part = from_terms(pending);
        total = part ? add(*total, *part, 1) : std::nullopt;
        if (!total) return std::nullopt;
        pending = terms;
    }
    const MaybeSym part = from_terms(pending);
    return part ? add(*total, *part, 1) : std::nullopt;
}

MaybeSym SymbolPool::Impl::multiply(SymId a, SymId b) {
    const auto x = as_int(a), y = as_int(b);
    if (x && y) {
        const auto value = checked_mul(*x, *y);
        return value ? integer(*value) : fail(SymFault::Overflow);
    }
    if (x || y) {
        const auto terms = scaled(terms_of(x ? b : a), x ? *x : *y);
        return terms ? from_terms(*terms) : std::nullopt;
    }
    const auto opaque = [&]() -> MaybeSym {
        SymId operand_list[] = {a, b};
        arrange(operand_list);
        return make(SymOp::Mul, ScalarType::Int, operand_list);
    };
    const Terms left = terms_of(a), right = terms_of(b);
    if (left.size() * right.size() > kMaxTermProducts) return opaque();
    Terms products;
    products.reserve(left.size() * right.size());
    for (const Term& s : left) {
        for (const Term& t : right) {
            const auto mono = multiply(s.mono, t.mono);
            if (!mono) return opaque();
            const auto coef = checked_mul(s.coef, t.coef);
            if (!coef) return fail(SymFault::Overflow);
            products.push_back({*mono, *coef});
        }
    }
    std::ranges::sort(products, by_mono);
    Terms result;
    for (const Term& term : products) {
        if (result.empty() || result.back().mono != term.mono) {
            if (!result.empty() && result.back().coef == 0) result.pop_back();
            result.push_back(term);
            continue;
        }
        const auto coef = checked_add(result.back().coef, term.coef);
        if (!coef) return fail(SymFault::Overflow);
        result.back().coef = *coef;
    }
    if (!result.empty() && result.back().coef == 0) result.pop_back();
    return result.size() <= kMaxPolynomialTerms ? from_terms(result) : opaque();
}

MaybeSym SymbolPool::Impl::negate(SymId a) {
    const auto terms = scaled(terms_of(a), -1);
    return terms ? from_terms(*terms) : std::nullopt;
}

MaybeSym SymbolPool::Impl::add_constant(SymId a, int64_t value) {
    return add(a, integer(value), 1);
}

MaybeSym SymbolPool::Impl::power(SymId base, SymId exponent) {
    const auto b = as_int(base), e = as_int(exponent);
    if (e && *e < 0) return fail(SymFault::NegativeExponent);
    if (b && e) {
        const auto value = checked_pow(*b, *e);
        return value ? integer(*value) : fail(SymFault::Overflow);
    }
    if (e && *e <= kMaxPolynomialDegree) {
        MaybeSym result = integer(1);
        bool expanded = true;
        for (int64_t i = 0; i < *e && result && expanded; ++i) {
            result = multiply(*result, base);
            expanded = !result || *result == base || !is_op(*result, SymOp::Mul);
        }
        if (expanded) return result;
    }
    const SymId operand_list[] = {base, exponent};
    return make(SymOp::Pow, ScalarType::Int, operand_list);
}

}  // namespace lemma::ir
