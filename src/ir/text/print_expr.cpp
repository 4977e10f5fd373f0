// SPDX-License-Identifier: Apache-2.0
// Expressions as text, with few parentheses.
#include "ir/text/print_expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/symbols/infix.h"
#include "ir/text/text_words.h"

namespace lemma::ir {

namespace {

std::string_view call_text(const SymNode& node) {
    switch (node.op) {
        case SymOp::Min:
            return "min";
        case SymOp::Max:
            return "max";
        case SymOp::ToInt:
            return "int";
        case SymOp::ToReal:
            return "real";
        case SymOp::ToBool:
            return "bool";
        default:
            return node.name;
    }
}

uint64_t magnitude(int64_t value) {
    return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

}  // namespace

std::string ExprScope::text(SymId id, bool inline_only) {
    out_.clear();
    inline_only_ = inline_only;
    print(id, kSelect);
    return std::move(out_);
}

std::string ExprScope::definition(SymId id) {
    out_.clear();
    inline_only_ = false;
    print_node(id, pool_.node(id), kSelect);
    return std::move(out_);
}

std::string ExprScope::indices_text(const std::vector<IndexTerm>& indices) {
    out_.clear();
    inline_only_ = false;
    print_indices(indices);
    return std::move(out_);
}

template <class Body>
void ExprScope::wrapped(bool parentheses, Body body) {
    if (parentheses) out_ += '(';
    body();
    if (parentheses) out_ += ')';
}

void ExprScope::print(SymId id, Level least) {
    const bool outer = is_outer(id);
    const Info& known = info(id);
    if (known.let && !known.name.empty() && (outer || !inline_only_)) {
        out_ += known.name;
        return;
    }
    print_node(id, pool_.node(id), least);
}

void ExprScope::print_node(SymId id, const SymNode& node, Level least) {
    switch (node.kind) {
        case SymKind::Constant:
            return print_constant(id, least);
        case SymKind::Symbol:
            return print_symbol(id, node);
        case SymKind::Polynomial:
            return wrapped((node.terms.size() > 1 ? kAdd : kMul) < least,
                           [&] { print_sum(side_terms(id)); });
        case SymKind::Operation:
            return print_operation(node, least);
    }
}

void ExprScope::print_constant(SymId id, Level least) {
    if (const auto value = pool_.as_int(id))
        return wrapped(*value < 0 && least > kAdd, [&] { out_ += fmt::to_string(*value); });
    if (const auto value = pool_.as_real(id))
        return wrapped(std::signbit(*value) && least > kAdd, [&] { out_ += number_text(*value); });
    if (const auto value = pool_.as_bool(id))
        out_ += *value ? "true" : "false";
    else
        out_ += quoted(*pool_.as_string(id));
}

void ExprScope::print_symbol(SymId id, const SymNode& node) {
    const Symbol* symbol = find(id);
    out_ += symbol ? symbol->text : node.name;
    if (!symbol || !symbol->access) return;
    print_indices(symbol->access->indices);
    if (was_mentioned_.try_emplace(id, true).second) mentioned_.push_back(id);
}

void ExprScope::print_indices(const std::vector<IndexTerm>& indices) {
    out_ += '[';
    for (size_t i = 0; i < indices.size(); ++i) {
        if (i > 0) out_ += ", ";
        print_index(indices[i]);
    }
    out_ += ']';
}

void ExprScope::print_index(const IndexTerm& term) {
    if (term.guard != Guard::None) out_ += '|';
    print(term.value, kSelect);
    if (term.guard == Guard::Remap) {
        out_ += " <> ";
        print(term.below, kSelect);
        out_ += " : ";
        print(term.above, kSelect);
    }
    if (term.guard != Guard::None) out_ += '|';
}

// ---- polynomials ------------------------------------------------------------------------------

// In the order of the text: by the first symbol, higher degrees first, the constant last.
std::vector<ExprScope::SideTerm> ExprScope::side_terms(SymId id) {
    const SymNode node = pool_.node(id);
    std::vector<SymTerm> terms = node.terms;
    if (const auto value = pool_.as_int(id)) terms = {{*value, {}}};
    if (node.kind != SymKind::Polynomial && terms.empty()) terms = {{1, {{id, 1}}}};
    std::vector<SideTerm> result;
    for (SymTerm& term : terms) {
        std::ranges::sort(term.factors, {}, [&](const SymFactor& f) { return key(f.atom); });
        SideTerm side{.key = {UINT32_MAX, term_hash(term)}, .negative = term.coefficient < 0};
        for (const SymFactor& factor : term.factors) {
            side.key.first = std::min(side.key.first, info(factor.atom).first);
            side.degree += factor.power;
        }
        side.term = std::move(term);
        result.push_back(std::move(side));
    }
    std::ranges::sort(result, [](const SideTerm& a, const SideTerm& b) {
        if ((a.degree == 0) != (b.degree == 0)) return b.degree == 0;
        if (a.key.first != b.key.first) return a.key.first < b.key.first;
        if (a.degree != b.degree) return a.degree > b.degree;
        return a.key.hash < b.key.hash;
    });
    return result;
}

std::vector<ExprScope::SideTerm> ExprScope::opposite_terms(SymId id) {
    std::vector<SideTerm> terms = side_terms(id);
    if (terms.empty() || terms.back().degree > 0) terms.push_back(SideTerm{});
    for (SideTerm& side : terms) {
        int64_t& value = side.term.coefficient;
        if (value == INT64_MIN || (side.degree == 0 && value == -INT64_MAX)) return {};
        value = (side.degree == 0 ? 1 : 0) - value;
        side.negative = value < 0;
    }
    if (terms.back().term.coefficient == 0) terms.pop_back();
    return terms;
}

void ExprScope::print_sum(std::vector<SideTerm> terms) {
    if (terms.empty()) out_ += '0';
    // `4 - n` instead of `-n + 4`
    if (!terms.empty() && terms[0].negative)
        std::ranges::stable_partition(terms, [](const SideTerm& t) { return !t.negative; });
    for (size_t i = 0; i < terms.size(); ++i) {
        // 2**63 is not a literal, but -2**63 is.
        const bool least = terms[i].term.coefficient == INT64_MIN;
        if (i > 0) out_ += terms[i].negative && !least ? " - " : " + ";
        const bool minus = terms[i].negative && (i == 0 || least);
        if (minus) out_ += '-';
        print_term(terms[i], minus);
    }
}

void ExprScope::print_term(const SideTerm& side, bool led_by_minus) {
    const uint64_t size = magnitude(side.term.coefficient);
    const auto& factors = side.term.factors;
    if (size != 1 || factors.empty()) out_ += fmt::to_string(size);
    for (size_t i = 0; i < factors.size(); ++i) {
        if (i > 0 || size != 1) out_ += '*';
        const bool alone = size == 1 && factors.size() == 1 && !led_by_minus;
        print(factors[i].atom, factors[i].power > 1 ? kPrimary : alone ? kMul : kUnary);
        if (factors[i].power > 1) out_ += fmt::format("**{}", factors[i].power);
    }
}

// p <= 0 and p == 0 with every term on the side where it is positive; the negation of p <= 0 is
// 1 - p <= 0.
void ExprScope::print_comparison(SymId polynomial, SymOp op, bool negated) {
    const bool opposite = negated && op == SymOp::LessEqual;
    std::vector<SideTerm> all = opposite ? opposite_terms(polynomial) : side_terms(polynomial);
    const bool whole =
        std::ranges::any_of(all, [](const SideTerm& t) { return t.term.coefficient == INT64_MIN; });
    if (whole)
        return print_sides(all, op == SymOp::LessEqual ? " <= " : negated ? " != " : " == ", {});
    std::vector<SideTerm> left, right;
    for (SideTerm& side : all) (side.negative ? right : left).push_back(std::move(side));
    turn_signs(right);
    const bool one = op == SymOp::LessEqual && !left.empty() && left.back().degree == 0 &&
                     left.back().term.coefficient == 1;
    if (one) left.pop_back();  // a + 1 <= b is a < b
    // `x >= -8` instead of `x + 8 >= 0`
    std::vector<SideTerm>& full = left.empty() ? right : left;
    std::vector<SideTerm>& empty = left.empty() ? left : right;
    if (empty.empty() && full.size() > 1 && full.back().degree == 0) {
        empty.push_back(std::move(full.back()));
        full.pop_back();
        turn_signs(empty);
    }
    const auto constant = [](const std::vector<SideTerm>& side) {
        return side.empty() || side[0].degree == 0;
    };
    if (op == SymOp::Equal) {
        const bool swap = !constant(right) && (constant(left) || right[0].key < left[0].key);
        return print_sides(swap ? right : left, negated ? " != " : " == ", swap ? left : right);
    }
    if (constant(left) && !constant(right)) return print_sides(right, one ? " > " : " >= ", left);
    print_sides(left, one ? " < " : " <= ", right);
}

void ExprScope::turn_signs(std::vector<SideTerm>& terms) {
    for (SideTerm& side : terms) {
        side.term.coefficient = -side.term.coefficient;
        side.negative = !side.negative;
    }
}

void ExprScope::print_sides(const std::vector<SideTerm>& left,
                            std::string_view op,
                            const std::vector<SideTerm>& right) {
    print_sum(left);
    out_ += op;
    print_sum(right);
}

// ---- operations -------------------------------------------------------------------------------

// Operands of commutative operations are sorted by the order of the text; others keep their order.
std::vector<SymId> ExprScope::ordered(const SymNode& node) {
    std::vector<SymId> operands = node.operands;
    if (!any_order(node)) return operands;
    std::ranges::sort(operands, {}, [&](SymId id) { return key(id); });
    if (node.op == SymOp::Mul)
        std::ranges::stable_partition(operands, [&](SymId id) { return pool_.is_constant(id); });
    return operands;
}

void ExprScope::print_operation(const SymNode& node, Level least) {
    const auto& x = node.operands;
    switch (node.op) {
        case SymOp::LessEqual:
        case SymOp::Equal:
            if (x.size() > 1) break;
            return wrapped(kCompare < least, [&] { print_comparison(x[0], node.op, false); });
        case SymOp::Not: {
            const SymNode inner = pool_.node(x[0]);
            const bool unequal = inner.kind == SymKind::Operation && inner.op == SymOp::Equal;
            if (unequal && inner.operands.size() == 1)
                return wrapped(kCompare < least,
                               [&] { print_comparison(inner.operands[0], inner.op, true); });
            if (unequal)
                return wrapped(kCompare < least,
                               [&] { print_infix(ordered(inner), inner.op, " != "); });
            if (inner.kind == SymKind::Operation && inner.op == SymOp::Xor)
                return print_exclusive(inner, true, least);
            return wrapped(kUnary < least, [&] { out_ += '!', print(x[0], kPower); });
        }
        case SymOp::Xor:
            return print_exclusive(node, false, least);
        case SymOp::Neg:
            return wrapped(kUnary < least, [&] { out_ += '-', print(x[0], kPower); });
        case SymOp::Select:
            return wrapped(kSelect < least, [&] {
                const bool turned = turns(x[0]);
                print_turned(x[0], kLogic, turned);
                out_ += " ? ";
                print(turned ? x[2] : x[1], kLogic);
                out_ += " : ";
                print(turned ? x[1] : x[2], kSelect);
            });
        case SymOp::Min:
        case SymOp::Max:
        case SymOp::ToInt:
        case SymOp::ToReal:
        case SymOp::ToBool:
        case SymOp::Function:
            return print_call(call_text(node), ordered(node));
        default:
            break;
    }
    const Level level = node.op <= SymOp::Sub                            ? kAdd
                        : node.op <= SymOp::Mod                          ? kMul
                        : node.op == SymOp::Pow                          ? kPower
                        : node.op >= SymOp::Less && node.op < SymOp::And ? kCompare
                                                                         : kLogic;
    std::string_view sign = infix_text(node.op);
    if (node.type == ScalarType::Real && node.op == SymOp::Mul) sign = " * ";
    if (node.type == ScalarType::Real && node.op == SymOp::Div) sign = " / ";
    wrapped(level < least, [&] { print_infix(ordered(node), node.op, sign); });
}

bool ExprScope::turns(SymId comparison) {
    if (info(comparison).let && !info(comparison).name.empty()) return false;
    const SymNode node = pool_.node(comparison);
    if (node.kind != SymKind::Operation || node.op != SymOp::LessEqual || node.operands.size() > 1)
        return false;
    return side_terms(node.operands[0])[0].negative && !opposite_terms(node.operands[0]).empty();
}

void ExprScope::print_turned(SymId comparison, Level least, bool turned) {
    if (!turned) return print(comparison, least);
    wrapped(kCompare < least,
            [&] { print_comparison(pool_.node(comparison).operands[0], SymOp::LessEqual, true); });
}

// a ^ b is !(a ^ !b).
void ExprScope::print_exclusive(const SymNode& node, bool negated, Level least) {
    const std::vector<SymId> operands = ordered(node);
    for (const SymId id : operands) negated = negated != turns(id);
    if (negated) out_ += '!';
    wrapped(negated || kLogic < least, [&] {
        for (const SymId id : operands) {
            if (id != operands[0]) out_ += " ^ ";
            print_turned(id, kCompare, turns(id));
        }
    });
}

// Sums and products of reals are left-associative. An int sum or product with several operands was
// too large for one polynomial and must stay separate.
void ExprScope::print_infix(const std::vector<SymId>& operands, SymOp op, std::string_view sign) {
    const bool whole_sum = op == SymOp::Add && pool_.type(operands[0]) == ScalarType::Int;
    Level first = kCompare, others = kCompare;
    if (op <= SymOp::Sub) first = whole_sum ? kMul : kAdd, others = kMul;
    if (op >= SymOp::Mul && op <= SymOp::Mod) first = kMul, others = kUnary;
    if (op == SymOp::Pow) first = kPrimary, others = kUnary;
    if (op >= SymOp::Less && op < SymOp::And) first = others = kAdd;
    for (size_t i = 0; i < operands.size(); ++i) {
        if (i > 0) out_ += sign;
        print(operands[i], i == 0 ? first : others);
    }
}

void ExprScope::print_call(std::string_view name, const std::vector<SymId>& operands) {
    out_ += name;
    out_ += '(';
    for (size_t i = 0; i < operands.size(); ++i) {
        if (i > 0) out_ += ", ";
        print(operands[i], kSelect);
    }
    out_ += ')';
}

}  // namespace lemma::ir
