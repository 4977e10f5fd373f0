// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic_order.cpp — an order of expressions that depends on their structure, not on
// their creation: the first symbol, the depth, a hash of the form, then the parts. It arranges
// signs and operands, so the same expression has the same text however it was built. Of symbols it
// uses the order of creation only, not their numbers.
#include <algorithm>
#include <compare>
#include <functional>
#include <tuple>

#include "ir/symbols/symbolic_impl.h"

namespace lemma::ir {

namespace {

uint64_t scramble(uint64_t a, uint64_t b) {
    uint64_t hash = (a ^ (b + 0x9e3779b97f4a7c15ull)) * 0xff51afd7ed558ccdull;
    hash ^= hash >> 31;
    hash *= 0xc4ceb9fe1a85ec53ull;
    return hash ^ (hash >> 33);
}

}  // namespace

void SymbolPool::Impl::set_order(Node& n,
                                 std::span<const SymId> operand_list,
                                 std::span<const Term> term_list) const {
    const auto bits = static_cast<uint64_t>(n.bits);
    const uint64_t form = static_cast<uint64_t>(n.kind) << 8 | static_cast<uint64_t>(n.op);
    if (n.kind == NodeKind::Symbol) {
        n.key = scramble(form, static_cast<uint64_t>(n.type));
        n.first_symbol = static_cast<uint32_t>(bits);
        return;
    }
    n.key = scramble(form, bits);
    n.key = scramble(n.key, std::hash<std::string_view>()(names[n.name]));
    for (const SymId id : operand_list) {
        n.key = scramble(n.key, node(id).key);
        n.first_symbol = std::min(n.first_symbol, node(id).first_symbol);
    }
    // Terms are stored in the order of creation, so the combination must not depend on it.
    uint64_t total = 0;
    for (const Term& term : term_list) {
        uint64_t product = 0;
        for (const Factor& factor : factors(term.mono)) {
            product += scramble(node(factor.atom).key, factor.power);
            n.first_symbol = std::min(n.first_symbol, node(factor.atom).first_symbol);
        }
        total += scramble(product, static_cast<uint64_t>(term.coef));
    }
    n.key = scramble(n.key, total);
}

namespace {

std::strong_ordering lexicographic(const auto& a, const auto& b, const auto& compare) {
    for (size_t i = 0; i < a.size() && i < b.size(); ++i)
        if (const auto order = compare(a[i], b[i]); order != 0) return order;
    return a.size() <=> b.size();
}

}  // namespace

// Constants come last.
std::strong_ordering SymbolPool::Impl::compare(SymId a, SymId b, int levels) const {
    if (a == b) return std::strong_ordering::equal;
    const Node &x = node(a), &y = node(b);
    const auto order =
        std::tie(x.first_symbol, x.depth, x.key) <=> std::tie(y.first_symbol, y.depth, y.key);
    if (order != 0 || levels == 0) return order;
    if (x.kind == NodeKind::Sum && y.kind == NodeKind::Sum) {
        return lexicographic(
            arranged_terms(x, levels - 1), arranged_terms(y, levels - 1), [&](Term s, Term t) {
                const auto monos_order = compare(s.mono, t.mono, levels - 1);
                return monos_order != 0 ? monos_order : s.coef <=> t.coef;
            });
    }
    if (x.kind != NodeKind::Op || y.kind != NodeKind::Op) return order;
    return lexicographic(
        operands(a), operands(b), [&](SymId s, SymId t) { return compare(s, t, levels - 1); });
}

bool SymbolPool::Impl::before(SymId a, SymId b) const {
    const auto order = compare(a, b, kComparedLevels);
    return order != 0 ? order < 0 : a < b;
}

void SymbolPool::Impl::arrange(std::span<SymId> ids) const {
    std::ranges::sort(ids, [&](SymId a, SymId b) { return before(a, b); });
}

std::vector<Factor> SymbolPool::Impl::arranged_factors(MonoId id, int levels) const {
    const auto view = factors(id);
    std::vector<Factor> result(view.begin(), view.end());
    std::ranges::sort(result, [&](const Factor& a, const Factor& b) {
        const auto order = compare(a.atom, b.atom, levels);
        return order != 0 ? order < 0 : a.atom < b.atom;
    });
    return result;
}

Terms SymbolPool::Impl::arranged_terms(const Node& sum, int levels) const {
    Terms result(std::span<const Term>(term_arena).subspan(sum.begin, sum.count));
    std::ranges::sort(result, [&](const Term& a, const Term& b) {
        const auto order = compare(a.mono, b.mono, levels);
        return order != 0 ? order < 0 : a.coef < b.coef;
    });
    return result;
}

// Higher degrees first, the constant last.
std::strong_ordering SymbolPool::Impl::compare(MonoId a, MonoId b, int levels) const {
    if (a == b) return std::strong_ordering::equal;
    const uint32_t x = monos[a.value].degree, y = monos[b.value].degree;
    if (x != y) return y <=> x;
    return lexicographic(arranged_factors(a, levels),
                         arranged_factors(b, levels),
                         [&](const Factor& s, const Factor& t) {
                             const auto order = compare(s.atom, t.atom, levels);
                             return order != 0 ? order : t.power <=> s.power;
                         });
}

bool SymbolPool::Impl::before(MonoId a, MonoId b) const {
    const auto order = compare(a, b, kComparedLevels);
    return order != 0 ? order < 0 : a < b;
}

bool SymbolPool::Impl::leads_negative(const Terms& terms) const {
    const Term* lead = nullptr;
    for (const Term& term : terms)
        if (term.mono != kUnit && (!lead || before(term.mono, lead->mono))) lead = &term;
    return lead && lead->coef < 0;
}

}  // namespace lemma::ir
