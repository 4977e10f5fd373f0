// SPDX-License-Identifier: Apache-2.0
// The structure of expressions for printing: the order of operands, and the parts that become lets.
// Nothing here recurses, because expressions and nested accesses can be deep.
#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "ir/text/print_expr.h"

namespace lemma::ir {

namespace {

constexpr uint32_t kNoSymbol = UINT32_MAX;
// An expression with more nodes than this is not written twice.
constexpr uint32_t kMaxRepeated = 16;
// An expression nested deeper than this is split by lets.
constexpr uint32_t kMaxNesting = 50;

uint64_t mix(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdull;
    return hash ^ (hash >> 32);
}

uint64_t hash_text(std::string_view text) {
    uint64_t hash = text.size();
    for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
    return hash;
}

void append_atoms(const SymbolPool& pool, SymId polynomial, std::vector<SymId>& atoms) {
    const SymNode node = pool.node(polynomial);
    if (node.kind != SymKind::Polynomial) {
        if (node.kind != SymKind::Constant) atoms.push_back(polynomial);
        return;
    }
    for (const SymTerm& term : node.terms)
        for (const SymFactor& factor : term.factors) atoms.push_back(factor.atom);
}

}  // namespace

ExprScope::ExprScope(const SymbolPool& pool, ExprScope* outer) : pool_(pool), outer_(outer) {}

void ExprScope::add_symbol(SymId symbol, std::string text) {
    const size_t before = outer_ ? outer_->symbols_.size() : 0;
    const auto position = static_cast<uint32_t>(before + symbols_.size());
    symbols_.try_emplace(symbol, Symbol{std::move(text), position});
}

void ExprScope::add_access(const Access& access, std::string head) {
    add_symbol(access.symbol, std::move(head));
    symbols_.at(access.symbol).access = &access;
}

bool ExprScope::is_access(SymId symbol) const {
    const auto at = symbols_.find(symbol);
    return at != symbols_.end() && at->second.access;
}

const ExprScope::Symbol* ExprScope::find(SymId symbol) const {
    if (const auto at = symbols_.find(symbol); at != symbols_.end()) return &at->second;
    return outer_ ? outer_->find(symbol) : nullptr;
}

// Operations whose operands the pool sorts by number.
bool ExprScope::any_order(const SymNode& node) {
    switch (node.op) {
        case SymOp::Add:
            return node.type != ScalarType::Str;
        case SymOp::Min:
        case SymOp::Max:
            return node.type == ScalarType::Int;
        case SymOp::Mul:
        case SymOp::Equal:
        case SymOp::And:
        case SymOp::Or:
        case SymOp::Xor:
            return true;
        default:
            return false;
    }
}

bool ExprScope::is_outer(SymId id) { return outer_ && !outer_->info(id).open; }

// ---- structure --------------------------------------------------------------------------------

std::vector<SymId> ExprScope::index_operands(const std::vector<IndexTerm>& indices) const {
    std::vector<SymId> operands;
    for (const IndexTerm& term : indices)
        for (const SymId part : {term.value, term.below, term.above})
            if (part.valid()) operands.push_back(part);
    return operands;
}

std::vector<SymId> ExprScope::structural_operands(const SymNode& node, SymId id) const {
    std::vector<SymId> operands = node.operands;
    if (node.kind == SymKind::Polynomial) append_atoms(pool_, id, operands);
    if (is_access(id)) return index_operands(symbols_.at(id).access->indices);
    return operands;
}

// A comparison with zero prints the terms of its operand; `!` of `==` prints `!=`, and `!` of `^`
// is printed as one operation.
std::vector<SymId> ExprScope::printed_operands(const SymNode& node, SymId id) const {
    const bool comparison = node.op == SymOp::LessEqual || node.op == SymOp::Equal;
    if (node.kind == SymKind::Operation && comparison && node.operands.size() == 1) {
        std::vector<SymId> atoms;
        append_atoms(pool_, node.operands[0], atoms);
        return atoms;
    }
    if (node.kind == SymKind::Operation && node.op == SymOp::Not) {
        const SymNode inner = pool_.node(node.operands[0]);
        if (inner.kind == SymKind::Operation &&
            (inner.op == SymOp::Equal || inner.op == SymOp::Xor))
            return printed_operands(inner, node.operands[0]);
    }
    return structural_operands(node, id);
}

const ExprScope::Info& ExprScope::info(SymId id) {
    if (is_outer(id)) return outer_->info(id);
    std::vector<SymId> open = {id};
    while (!open.empty()) {
        const SymId next = open.back();
        if (infos_.contains(next) || is_outer(next)) {
            open.pop_back();
            continue;
        }
        const SymNode node = pool_.node(next);
        const size_t before = open.size();
        for (const SymId operand : structural_operands(node, next))
            if (!infos_.contains(operand) && !is_outer(operand)) open.push_back(operand);
        if (open.size() > before) continue;
        open.pop_back();
        infos_.emplace(next, compute(node, next));
    }
    return infos_.at(id);
}

// The operands are computed already.
ExprScope::Info ExprScope::compute(const SymNode& node, SymId id) {
    Info result{.first = kNoSymbol};
    result.hash = mix(static_cast<uint64_t>(node.kind) << 8 | static_cast<uint64_t>(node.type),
                      hash_text(node.name));
    for (const SymId operand : structural_operands(node, id)) {
        const Info& part = info(operand);
        result.first = std::min(result.first, part.first);
        result.height = std::max(result.height, part.height + 1);
        result.open = result.open || part.open;
    }
    switch (node.kind) {
        case SymKind::Constant:
            result.hash = mix(result.hash, hash_text(pool_.text(id)));
            break;
        case SymKind::Symbol: {
            const Symbol* symbol = find(id);
            if (!symbol) result.open = true;
            result.first = symbol ? symbol->position : kNoSymbol;
            result.hash = mix(result.first, 1);
            break;
        }
        case SymKind::Polynomial: {
            uint64_t sum = 0;
            for (const SymTerm& term : node.terms) sum += term_hash(term);
            result.hash = mix(result.hash, sum);
            break;
        }
        case SymKind::Operation: {
            uint64_t parts = 0;
            for (const SymId operand : node.operands)
                parts = any_order(node) ? parts + mix(info(operand).hash, 3)
                                        : mix(parts, info(operand).hash);
            result.hash = mix(mix(result.hash, static_cast<uint64_t>(node.op)), parts);
            break;
        }
    }
    return result;
}

uint64_t ExprScope::term_hash(const SymTerm& term) {
    uint64_t product = 1;
    for (const SymFactor& factor : term.factors)
        product += mix(info(factor.atom).hash, factor.power);
    return mix(product, static_cast<uint64_t>(term.coefficient));
}

ExprScope::Key ExprScope::key(SymId id) {
    const Info& known = info(id);
    return {known.first, known.hash};
}

// ---- lets -------------------------------------------------------------------------------------

void ExprScope::use(SymId root) {
    std::vector<SymId> open = {root};
    while (!open.empty()) {
        const SymId id = open.back();
        open.pop_back();
        if (is_outer(id)) {
            outer_->use(id);
            continue;
        }
        static_cast<void>(info(id));
        if (own(id).uses++ > 0) continue;
        used_.push_back(id);
        for (const SymId operand : printed_operands(pool_.node(id), id)) open.push_back(operand);
    }
}

void ExprScope::choose_lets() {
    std::ranges::sort(used_, {}, [&](SymId id) { return std::tuple(own(id).height, key(id)); });
    for (const SymId id : used_) {
        Info& here = own(id);
        uint64_t weight = 1;
        const auto operands = printed_operands(pool_.node(id), id);
        for (const SymId operand : operands) {
            const Info& part = info(operand);
            weight += part.let ? 1 : part.weight;
            if (!part.let) here.nesting = std::max(here.nesting, part.nesting + 1);
        }
        here.weight = static_cast<uint32_t>(std::min<uint64_t>(weight, UINT32_MAX));
        here.let =
            here.let || (here.uses > 1 && here.weight > kMaxRepeated) || here.nesting > kMaxNesting;
        if (here.let) here.nesting = 0;
    }
}

void ExprScope::force_let(SymId access) {
    static_cast<void>(info(access));
    own(access).let = true;
}

std::vector<SymId> ExprScope::take_lets(const std::vector<SymId>& roots) {
    std::vector<SymId> found, open = roots;
    std::unordered_map<SymId, bool, IdHash> seen;
    while (!open.empty()) {
        const SymId id = open.back();
        open.pop_back();
        if (is_outer(id) || !seen.try_emplace(id, true).second) continue;
        static_cast<void>(info(id));
        Info& here = own(id);
        if (here.taken) continue;
        if (here.let) {
            here.taken = true;
            found.push_back(id);
        }
        for (const SymId operand : printed_operands(pool_.node(id), id)) open.push_back(operand);
    }
    std::ranges::sort(found, {}, [&](SymId id) { return std::tuple(own(id).height, key(id)); });
    return found;
}

void ExprScope::name_let(SymId id, std::string name) { own(id).name = std::move(name); }

}  // namespace lemma::ir
