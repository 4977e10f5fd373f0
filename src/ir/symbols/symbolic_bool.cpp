// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic_bool.cpp — comparisons of ints, logic, and selection. A comparison is kept as
// p <= 0 or p == 0 with coprime coefficients; the negation of p <= 0 is -p + 1 <= 0.
#include <algorithm>

#include "base/checked.h"
#include "ir/symbols/symbolic_impl.h"

namespace lemma::ir {

namespace {

// De Morgan's laws are applied to expressions up to this depth; deeper ones keep their `!`.
constexpr uint32_t kMaxNegatedDepth = 64;

}  // namespace

// ---- comparisons ------------------------------------------------------------------------------

MaybeSym SymbolPool::Impl::compare(SymOp op, SymId a, SymId b) {
    if (op == SymOp::NotEqual) {
        const MaybeSym equal = compare(SymOp::Equal, a, b);
        return equal ? negation(*equal) : std::nullopt;
    }
    if (const auto x = as_int(a), y = as_int(b); x && y)
        return boolean(op == SymOp::Less ? *x < *y : op == SymOp::LessEqual ? *x <= *y : *x == *y);
    auto difference = sum(terms_of(a), terms_of(b), -1);
    if (difference && op == SymOp::Less) difference = sum(*difference, Terms{{kUnit, 1}}, 1);
    fault = SymFault::None;
    if (difference && difference->size() <= kMaxPolynomialTerms)
        return op == SymOp::Equal ? equals_zero(std::move(*difference))
                                  : at_most_zero(std::move(*difference));
    if (a == b) return boolean(op != SymOp::Less);
    SymId operand_list[] = {a, b};
    if (op == SymOp::Equal) arrange(operand_list);
    return make(op, ScalarType::Bool, operand_list);
}

MaybeSym SymbolPool::Impl::at_most_zero(Terms terms) {
    const uint64_t shared = content(terms);
    if (shared == 0) return boolean(constant_of(terms) <= 0);
    if (shared > 1 && shared <= static_cast<uint64_t>(kInt64Max)) {
        const auto divisor = static_cast<int64_t>(shared);
        const int64_t constant = *lemma::ceil_div(constant_of(terms), divisor);
        for (Term& term : terms) term.coef /= divisor;
        set_constant(terms, constant);
    }
    if (never_positive(terms)) return boolean(true);
    auto opposite = scaled(terms, -1);
    if (opposite) opposite = sum(*opposite, Terms{{kUnit, 1}}, 1);
    fault = SymFault::None;
    if (opposite && never_positive(*opposite)) return boolean(false);
    const MaybeSym operand_id = from_terms(terms);
    if (!operand_id) return std::nullopt;
    return make(SymOp::LessEqual, ScalarType::Bool, std::span(&*operand_id, 1));
}

MaybeSym SymbolPool::Impl::equals_zero(Terms terms) {
    const uint64_t shared = content(terms);
    if (shared == 0) return boolean(constant_of(terms) == 0);
    if (shared > 1 && shared <= static_cast<uint64_t>(kInt64Max)) {
        const auto divisor = static_cast<int64_t>(shared);
        if (constant_of(terms) % divisor != 0) return boolean(false);
        for (Term& term : terms) term.coef /= divisor;
    }
    if (leads_negative(terms))
        if (const auto flipped = scaled(terms, -1)) terms = *flipped;
    fault = SymFault::None;
    if (range_of(terms) == Interval{0, 0}) return boolean(true);
    const auto above = sum(terms, Terms{{kUnit, 1}}, 1);
    if (above && never_positive(*above)) return boolean(false);
    auto below = scaled(terms, -1);
    if (below) below = sum(*below, Terms{{kUnit, 1}}, 1);
    fault = SymFault::None;
    if (below && never_positive(*below)) return boolean(false);
    const MaybeSym operand_id = from_terms(terms);
    if (!operand_id) return std::nullopt;
    return make(SymOp::Equal, ScalarType::Bool, std::span(&*operand_id, 1));
}

MaybeSym SymbolPool::Impl::compare_bools(SymOp op, SymId a, SymId b) {
    switch (op) {
        case SymOp::NotEqual:
            return exclusive(a, b);
        case SymOp::Equal: {
            const MaybeSym different = exclusive(a, b);
            return different ? negation(*different) : std::nullopt;
        }
        default: {  // a < b is !a && b; a <= b is !a || b
            const MaybeSym not_a = negation(a);
            if (!not_a) return std::nullopt;
            const SymId operand_list[] = {*not_a, b};
            return junction(op == SymOp::Less ? SymOp::And : SymOp::Or, operand_list);
        }
    }
}

// ---- logic ------------------------------------------------------------------------------------

MaybeSym SymbolPool::Impl::junction(SymOp op, std::span<const SymId> operand_list) {
    const bool decisive = op == SymOp::Or;
    std::vector<SymId> all;
    for (const SymId id : operand_list) {
        if (is_op(id, op) && all.size() + node(id).count <= kMaxOperands) {
            const auto inner = operands(id);
            all.insert(all.end(), inner.begin(), inner.end());
        } else if (const auto value = as_bool(id)) {
            if (*value == decisive) return boolean(decisive);
        } else {
            all.push_back(id);
        }
    }
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    if (all.empty()) return boolean(!decisive);
    if (all.size() == 1) return all[0];
    for (const SymId id : all) {
        const MaybeSym opposite = negation(id);
        if (opposite && std::ranges::binary_search(all, *opposite)) return boolean(decisive);
    }
    fault = SymFault::None;
    arrange(all);
    return make(op, ScalarType::Bool, all);
}

MaybeSym SymbolPool::Impl::negation(SymId a) {
    if (const auto value = as_bool(a)) return boolean(!*value);
    if (is_op(a, SymOp::Not)) return operand(a, 0);
    if (const auto known = negations.find(a); known != negations.end()) return known->second;

    MaybeSym result;
    if (is_op(a, SymOp::LessEqual) && node(a).count == 1 &&
        node(operand(a, 0)).type == ScalarType::Int) {
        auto terms = scaled(terms_of(operand(a, 0)), -1);
        if (terms) terms = sum(*terms, Terms{{kUnit, 1}}, 1);
        fault = SymFault::None;
        if (terms && terms->size() <= kMaxPolynomialTerms) result = at_most_zero(*terms);
    } else if ((is_op(a, SymOp::And) || is_op(a, SymOp::Or)) && node(a).depth <= kMaxNegatedDepth) {
        std::vector<SymId> all = copy_operands(a);
        for (SymId& id : all) {
            const MaybeSym opposite = negation(id);
            if (!opposite) return std::nullopt;
            id = *opposite;
        }
        result = junction(is_op(a, SymOp::And) ? SymOp::Or : SymOp::And, all);
    }
    if (!result) result = make(SymOp::Not, ScalarType::Bool, std::span(&a, 1));
    if (!result) return std::nullopt;
    negations.emplace(a, *result);
    negations.emplace(*result, a);
    return result;
}

MaybeSym SymbolPool::Impl::exclusive(SymId a, SymId b) {
    bool odd = false;
    // x and !x share one form: the one that is not a `!` and does not lead with a minus.
    const auto strip = [&](SymId id) -> MaybeSym {
        if (is_op(id, SymOp::Not)) {
            odd = !odd;
            return operand(id, 0);
        }
        if (!is_op(id, SymOp::LessEqual) || node(id).count != 1 ||
            !leads_negative(terms_of(operand(id, 0))))
            return id;
        odd = !odd;
        return negation(id);
    };
    const auto x = as_bool(a), y = as_bool(b);
    if (x && y) return boolean(*x != *y);
    if (x) return *x ? negation(b) : b;
    if (y) return *y ? negation(a) : a;
    const MaybeSym p = strip(a), q = strip(b);
    if (!p || !q) return std::nullopt;
    if (*p == *q) return boolean(odd);
    SymId operand_list[] = {*p, *q};
    arrange(operand_list);
    const MaybeSym result = make(SymOp::Xor, ScalarType::Bool, operand_list);
    return result && odd ? negation(*result) : result;
}

// ---- selection --------------------------------------------------------------------------------

MaybeSym SymbolPool::Impl::select(SymId condition, SymId consequent, SymId alternative) {
    if (const auto value = as_bool(condition)) return *value ? consequent : alternative;
    if (consequent == alternative) return consequent;
    const bool flip = is_op(condition, SymOp::Not) ||
                      (is_op(condition, SymOp::LessEqual) && node(condition).count == 1 &&
                       leads_negative(terms_of(operand(condition, 0))));
    if (flip) {
        const MaybeSym opposite = negation(condition);
        if (!opposite) return std::nullopt;
        condition = *opposite;
        std::swap(consequent, alternative);
    }
    if (node(consequent).type == ScalarType::Bool)
        return select_bool(condition, consequent, alternative);
    if (is_op(consequent, SymOp::Select) && operand(consequent, 0) == condition)
        consequent = operand(consequent, 1);
    if (is_op(alternative, SymOp::Select) && operand(alternative, 0) == condition)
        alternative = operand(alternative, 2);
    if (consequent == alternative) return consequent;
    const SymId operand_list[] = {condition, consequent, alternative};
    return make(SymOp::Select, node(consequent).type, operand_list);
}

MaybeSym SymbolPool::Impl::select_bool(SymId condition, SymId consequent, SymId alternative) {
    const MaybeSym opposite = negation(condition);
    if (!opposite) return std::nullopt;
    if (const auto value = as_bool(consequent)) {
        const SymId operand_list[] = {*value ? condition : *opposite, alternative};
        return junction(*value ? SymOp::Or : SymOp::And, operand_list);
    }
    if (const auto value = as_bool(alternative)) {
        const SymId operand_list[] = {*value ? *opposite : condition, consequent};
        return junction(*value ? SymOp::Or : SymOp::And, operand_list);
    }
    const SymId operand_list[] = {condition, consequent, alternative};
    return make(SymOp::Select, ScalarType::Bool, operand_list);
}

}  // namespace lemma::ir
