// ir/symbolic_order.cpp — an order of expressions that follows from what they are, not from when
// they were made: which symbol of theirs came first, how deep they are, and a hash of their
// structure. Signs and operands are arranged by it, so that the same expression reads the same
// however it came about.
#include <algorithm>
#include <functional>
#include <tuple>

#include "ir/symbolic_impl.h"

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
    n.key = scramble(static_cast<uint64_t>(n.kind) << 8 | static_cast<uint64_t>(n.op), bits);
    if (n.kind == NodeKind::Symbol) {
        n.first_symbol = static_cast<uint32_t>(bits);
        return;
    }
    n.key = scramble(n.key, std::hash<std::string_view>()(names[n.name]));
    for (const SymId id : operand_list) {
        n.key = scramble(n.key, node(id).key);
        n.first_symbol = std::min(n.first_symbol, node(id).first_symbol);
    }
    // Terms lie in the order of their making, so that their sum must not depend on it.
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

// Constants come last.
bool SymbolPool::Impl::before(SymId a, SymId b) const {
    const Node &x = node(a), &y = node(b);
    return std::tie(x.first_symbol, x.depth, x.key, a) <
           std::tie(y.first_symbol, y.depth, y.key, b);
}

void SymbolPool::Impl::arrange(std::span<SymId> ids) const {
    std::ranges::sort(ids, [&](SymId a, SymId b) { return before(a, b); });
}

std::vector<Factor> SymbolPool::Impl::arranged_factors(MonoId id) const {
    const auto view = factors(id);
    std::vector<Factor> result(view.begin(), view.end());
    std::ranges::sort(result,
                      [&](const Factor& a, const Factor& b) { return before(a.atom, b.atom); });
    return result;
}

// Higher degrees first, the constant last.
bool SymbolPool::Impl::before(MonoId a, MonoId b) const {
    const uint32_t x = monos[a.value].degree, y = monos[b.value].degree;
    if (x != y) return x > y;
    return std::ranges::lexicographical_compare(
        arranged_factors(a), arranged_factors(b), [&](const Factor& s, const Factor& t) {
            return s.atom != t.atom ? before(s.atom, t.atom) : s.power > t.power;
        });
}

bool SymbolPool::Impl::leads_negative(const Terms& terms) const {
    const Term* lead = nullptr;
    for (const Term& term : terms)
        if (term.mono != kUnit && (!lead || before(term.mono, lead->mono))) lead = &term;
    return lead && lead->coef < 0;
}

}  // namespace lemma::ir
