// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic_prove.cpp — proves the sign of a polynomial.
#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "ir/symbols/symbolic_impl.h"

namespace lemma::ir {

namespace {

// Attempts per question; each replaces one atom by an upper bound.
constexpr int kMaxAttempts = 24;

}  // namespace

// The polynomial with one atom replaced so that its sign stays or its value grows: a minimum is at
// most each operand, c*(a/c) lies in [a - c + 1, a], a % c is at most a non-negative a. `choice`
// counts the ways; empty after the last one.
std::optional<Terms> SymbolPool::Impl::raised(const Terms& terms, size_t index, size_t choice) {
    const Term term = terms[index];
    const SymId atom = linear_atom(term);
    if (!atom || !is(atom, NodeKind::Op)) return std::nullopt;
    Terms rest = terms;
    rest.erase_at(index);
    const bool grows = term.coef > 0;
    switch (node(atom).op) {
        case SymOp::Min:
        case SymOp::Max:
            if (grows != (node(atom).op == SymOp::Min) || choice >= node(atom).count)
                return std::nullopt;
            return sum(rest, terms_of(operand(atom, choice)), term.coef);
        case SymOp::Mod:
            if (!grows || choice > 0 || node(operand(atom, 0)).range.low < 0) return std::nullopt;
            return sum(rest, terms_of(operand(atom, 0)), term.coef);
        case SymOp::Div: {
            const auto c = as_int(operand(atom, 1));
            if (!c || *c <= 0 || choice > 0) return std::nullopt;
            // Multiplied by c / gcd(c, coef), the coefficient becomes divisible by c.
            const int64_t scale = *c / std::gcd(*c, term.coef == kInt64Min ? 1 : term.coef);
            const auto coef = checked_mul(term.coef, scale);
            const auto scaled_rest = scaled(rest, scale);
            if (!coef || !scaled_rest) return std::nullopt;
            const int64_t factor = *coef / *c;
            auto result = sum(*scaled_rest, terms_of(operand(atom, 0)), factor);
            if (result && !grows) result = sum(*result, Terms{{kUnit, *c - 1}}, -factor);
            return result;
        }
        default:
            return std::nullopt;
    }
}

bool SymbolPool::Impl::never_positive(const Terms& terms) {
    int budget = kMaxAttempts;
    const bool result = never_positive(terms, budget);
    fault = SymFault::None;
    return result;
}

bool SymbolPool::Impl::never_positive(const Terms& terms, int& budget) {
    if (range_of(terms).high <= 0) return true;
    for (size_t index = 0; index < terms.size(); ++index)
        for (size_t choice = 0; budget > 0; ++choice) {
            const auto larger = raised(terms, index, choice);
            if (!larger || larger->size() > kMaxPolynomialTerms) break;
            --budget;
            if (never_positive(*larger, budget)) return true;
        }
    return false;
}

std::optional<bool> SymbolPool::prove(SymId condition) { return impl_->as_bool(condition); }

}  // namespace lemma::ir
