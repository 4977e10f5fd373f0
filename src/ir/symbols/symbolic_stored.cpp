// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic_stored.cpp — a pool as bytes and back.
#include <algorithm>

#include "base/archive.h"
#include "ir/symbols/symbolic_impl.h"

namespace lemma {

template <>
inline constexpr bool kPlainBytes<ir::Node> = true;
template <>
inline constexpr bool kPlainBytes<ir::Mono> = true;
template <>
inline constexpr bool kPlainBytes<ir::Factor> = true;

}  // namespace lemma

namespace lemma::ir {

static_assert(sizeof(Node) == 56 && sizeof(Mono) == 12 && sizeof(Factor) == 8, "has padding");

template <class Archive>
void fields(Archive& archive, like<Term, Archive>& term) {
    auto& [mono, coef] = term;
    archive(mono, coef);
}

namespace {

bool is_within(uint32_t begin, uint32_t count, size_t size) {
    return begin <= size && count <= size - begin;
}

}  // namespace

// Whether every part names only parts that exist.
bool SymbolPool::Impl::has_valid_parts() const {
    const auto is_node = [&](SymId id) { return id.value < nodes.size(); };
    if (names.empty() || monos.empty() || monos[0].count != 0) return false;
    for (uint32_t i = 0; i < nodes.size(); ++i) {
        const Node& node = nodes[i];
        if (node.kind > NodeKind::Op || node.op > SymOp::Function) return false;
        if (node.type > ScalarType::Str || node.name >= names.size()) return false;
        const size_t arena = node.kind == NodeKind::Sum ? term_arena.size() : operand_arena.size();
        if (!is_within(node.begin, node.count, arena)) return false;
        // An expression is made after its parts.
        if (node.kind == NodeKind::Op &&
            std::ranges::any_of(operands(make_id<SymId>(i)),
                                [&](SymId id) { return id.value >= i; }))
            return false;
    }
    return std::ranges::all_of(term_arena,
                               [&](const Term& term) { return term.mono.value < monos.size(); }) &&
           std::ranges::all_of(factor_arena,
                               [&](const Factor& factor) { return is_node(factor.atom); }) &&
           std::ranges::all_of(monos, [&](const Mono& mono) {
               return is_within(mono.begin, mono.count, factor_arena.size());
           });
}

// A symbol equals no other, so look-ups do not find it.
void SymbolPool::Impl::fill_tables() {
    node_table.clear();
    mono_table.clear();
    name_table.clear();
    for (uint32_t i = 0; i < nodes.size(); ++i) {
        const Node& node = nodes[i];
        if (node.kind == NodeKind::Symbol) continue;
        const auto span = [&](const auto& arena) {
            return std::span(arena).subspan(node.begin, node.count);
        };
        const bool sum = node.kind == NodeKind::Sum;
        const uint64_t hash =
            sum ? hash_of(node, {}, span(term_arena)) : hash_of(node, span(operand_arena), {});
        node_table.insert(hash, i);
    }
    for (uint32_t i = 0; i < monos.size(); ++i) {
        mono_table.insert(hash_of(factors(make_id<MonoId>(i))), i);
    }
    for (uint32_t i = 1; i < names.size(); ++i) name_table.insert(hash_of(names[i]), i);
}

std::string SymbolPool::bytes() const {
    const Impl& pool = *impl_;
    ArchiveWriter writer;
    writer(pool.nodes, pool.operand_arena, pool.term_arena, pool.monos, pool.factor_arena);
    writer(pool.names, pool.next_symbol);
    return std::move(writer.bytes);
}

std::optional<SymbolPool> SymbolPool::from_bytes(std::string_view bytes) {
    SymbolPool made;
    Impl& pool = *made.impl_;
    ArchiveReader reader(bytes);
    reader(pool.nodes, pool.operand_arena, pool.term_arena, pool.monos, pool.factor_arena);
    reader(pool.names, pool.next_symbol);
    if (!reader.good() || !reader.at_end() || !pool.has_valid_parts()) return std::nullopt;
    pool.fill_tables();
    return made;
}

}  // namespace lemma::ir
