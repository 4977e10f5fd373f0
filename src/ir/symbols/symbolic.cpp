// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic.cpp — the pool's interface, interning of nodes, and the dispatch of
// operations to the files that build them.
#include "ir/symbols/symbolic.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/checked.h"
#include "ir/symbols/symbolic_impl.h"

namespace lemma::ir {

namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdull;
    return hash ^ (hash >> 32);
}

}  // namespace

void InternTable::insert(uint64_t hash, uint32_t index) {
    if ((used_ + 1) * 4 > slots_.size() * 3) {
        std::vector<Slot> old(std::max<size_t>(64, slots_.size() * 2));
        old.swap(slots_);
        used_ = 0;
        for (const Slot& slot : old)
            if (slot.index != kNone) insert(slot.hash, slot.index);
    }
    const size_t mask = slots_.size() - 1;
    size_t i = hash & mask;
    while (slots_[i].index != kNone) i = (i + 1) & mask;
    slots_[i] = {hash, index};
    ++used_;
}

void InternTable::clear() {
    // One large use must not slow down all later ones.
    constexpr size_t kMostKept = 1024;
    if (slots_.size() > kMostKept) slots_.clear();
    if (used_ > 0) std::ranges::fill(slots_, Slot{});
    used_ = 0;
}

void SymbolPool::Impl::begin() {
    names.emplace_back();
    intern_mono({});
}

void SymbolPool::Impl::clear() {
    nodes.clear();
    operand_arena.clear();
    term_arena.clear();
    monos.clear();
    factor_arena.clear();
    node_table.clear();
    mono_table.clear();
    name_table.clear();
    names.clear();
    negations.clear();
    small_integers.fill({});
    next_symbol = 0;
    fault = SymFault::None;
    begin();
}

uint64_t SymbolPool::Impl::hash_of(const Node& node,
                                   std::span<const SymId> operand_list,
                                   std::span<const Term> term_list) {
    uint64_t hash = mix(static_cast<uint64_t>(node.kind) << 16 |
                            static_cast<uint64_t>(node.op) << 8 | static_cast<uint64_t>(node.type),
                        static_cast<uint64_t>(node.bits));
    hash = mix(hash, node.name);
    for (const SymId id : operand_list) hash = mix(hash, id.value);
    for (const Term& term : term_list)
        hash = mix(mix(hash, term.mono.value), static_cast<uint64_t>(term.coef));
    return hash;
}

SymId SymbolPool::Impl::intern(const Node& candidate,
                               std::span<const SymId> operand_list,
                               std::span<const Term> term_list) {
    const uint64_t hash = hash_of(candidate, operand_list, term_list);
    const uint32_t found = node_table.find(hash, [&](uint32_t index) {
        const Node& other = nodes[index];
        if (other.kind != candidate.kind || other.op != candidate.op ||
            other.type != candidate.type || other.bits != candidate.bits ||
            other.name != candidate.name)
            return false;
        if (candidate.kind == NodeKind::Sum)
            return std::ranges::equal(term_list,
                                      std::span(term_arena).subspan(other.begin, other.count));
        return std::ranges::equal(operand_list,
                                  std::span(operand_arena).subspan(other.begin, other.count));
    });
    if (found != InternTable::kNone) return make_id<SymId>(found);
    const SymId id = append(candidate, operand_list, term_list);
    node_table.insert(hash, id.value);
    return id;
}

// A node that equals no other.
SymId SymbolPool::Impl::append(Node added,
                               std::span<const SymId> operand_list,
                               std::span<const Term> term_list) {
    set_order(added, operand_list, term_list);
    if (added.kind == NodeKind::Sum) {
        added.begin = static_cast<uint32_t>(term_arena.size());
        added.count = static_cast<uint32_t>(term_list.size());
        term_arena.insert(term_arena.end(), term_list.begin(), term_list.end());
    } else if (!operand_list.empty()) {
        added.begin = static_cast<uint32_t>(operand_arena.size());
        added.count = static_cast<uint32_t>(operand_list.size());
        // The list may lie inside the arena itself.
        const SmallVector<SymId, 8> copy(operand_list);
        operand_arena.insert(operand_arena.end(), copy.begin(), copy.end());
    }
    LEMMA_CHECK(nodes.size() < UINT32_MAX && term_arena.size() < UINT32_MAX);
    nodes.push_back(added);
    return make_id<SymId>(nodes.size() - 1);
}

SymId SymbolPool::Impl::integer(int64_t value) {
    const bool small = value >= 0 && static_cast<uint64_t>(value) < small_integers.size();
    if (small && small_integers[static_cast<size_t>(value)].valid())
        return small_integers[static_cast<size_t>(value)];
    const SymId id = intern(
        {.kind = NodeKind::Int, .type = ScalarType::Int, .bits = value, .range = {value, value}},
        {},
        {});
    if (small) small_integers[static_cast<size_t>(value)] = id;
    return id;
}

SymId SymbolPool::Impl::real(double value) {
    if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();  // one canonical NaN
    return intern(
        {.kind = NodeKind::Real, .type = ScalarType::Real, .bits = std::bit_cast<int64_t>(value)},
        {},
        {});
}

SymId SymbolPool::Impl::boolean(bool value) {
    return intern(
        {.kind = NodeKind::Bool, .type = ScalarType::Bool, .bits = value, .range = {value, value}},
        {},
        {});
}

SymId SymbolPool::Impl::string(std::string_view value) {
    return intern(
        {.kind = NodeKind::Str, .type = ScalarType::Str, .name = intern_name(value)}, {}, {});
}

uint64_t SymbolPool::Impl::hash_of(std::string_view name) {
    return std::hash<std::string_view>()(name);
}

uint32_t SymbolPool::Impl::intern_name(std::string_view text) {
    const uint64_t hash = hash_of(text);
    const uint32_t found =
        name_table.find(hash, [&](uint32_t index) { return names[index] == text; });
    if (found != InternTable::kNone) return found;
    const auto index = static_cast<uint32_t>(names.size());
    names.emplace_back(text);
    name_table.insert(hash, index);
    return index;
}

MaybeSym SymbolPool::Impl::make(SymOp op,
                                ScalarType type,
                                std::span<const SymId> operand_list,
                                uint32_t name) {
    uint32_t depth = 0;
    for (const SymId id : operand_list) depth = std::max(depth, node(id).depth);
    if (++depth > kMaxSymbolicDepth) return fail(SymFault::TooDeep);
    Node candidate{.kind = NodeKind::Op, .op = op, .type = type, .depth = depth, .name = name};
    if (type == ScalarType::Int) candidate.range = op_range(op, operand_list, name);
    if (type == ScalarType::Bool) candidate.range = {0, 1};
    // A division or power may have no value, so a single possible value does not decide it.
    const bool total = op != SymOp::Div && op != SymOp::Mod && op != SymOp::Pow;
    if (type == ScalarType::Int && total)
        if (const auto value = only_value(candidate.range)) return integer(*value);
    return intern(candidate, operand_list, {});
}

MaybeSym SymbolPool::Impl::int_op(SymOp op, std::span<const SymId> x) {
    switch (op) {
        case SymOp::Add:
            return x.size() == 2 ? add(x[0], x[1], 1) : add_all(x);
        case SymOp::Mul: {
            MaybeSym result = x[0];
            for (size_t i = 1; i < x.size() && result; ++i) result = multiply(*result, x[i]);
            return result;
        }
        case SymOp::Sub:
            return add(x[0], x[1], -1);
        case SymOp::Neg:
            return negate(x[0]);
        case SymOp::Div:
            return floor_div(x[0], x[1]);
        case SymOp::CeilDiv:
            return ceil_div(x[0], x[1]);
        case SymOp::Mod:
            return modulo(x[0], x[1]);
        case SymOp::Pow:
            return power(x[0], x[1]);
        case SymOp::Min:
        case SymOp::Max:
            return extremum(op, x);
        default:
            return compare(op, x[0], x[1]);
    }
}

namespace {

enum class Arity : uint8_t { One, Two, Three, Any };

Arity arity_of(SymOp op) {
    switch (op) {
        case SymOp::Neg:
        case SymOp::Not:
        case SymOp::ToInt:
        case SymOp::ToReal:
        case SymOp::ToBool:
        case SymOp::Function:
            return Arity::One;
        case SymOp::Select:
            return Arity::Three;
        case SymOp::Add:
        case SymOp::Mul:
        case SymOp::Min:
        case SymOp::Max:
        case SymOp::And:
        case SymOp::Or:
            return Arity::Any;
        default:
            return Arity::Two;
    }
}

bool fits(Arity arity, size_t count) {
    return arity == Arity::Any ? count > 0 : count == static_cast<size_t>(arity) + 1;
}

bool is_comparison(SymOp op) { return op >= SymOp::Less && op <= SymOp::NotEqual; }

}  // namespace

MaybeSym SymbolPool::Impl::dispatch(SymOp op, std::span<const SymId> x) {
    fault = SymFault::None;
    if (!fits(arity_of(op), x.size()) || op == SymOp::Function) return fail(SymFault::BadOperands);
    for (const SymId id : x)
        if (id.value >= nodes.size()) return fail(SymFault::BadOperands);

    const ScalarType type = node(x[0]).type;
    if (op == SymOp::Select) {
        if (type != ScalarType::Bool || node(x[1]).type != node(x[2]).type)
            return fail(SymFault::BadOperands);
        return select(x[0], x[1], x[2]);
    }
    for (const SymId id : x)
        if (node(id).type != type) return fail(SymFault::BadOperands);
    if (op == SymOp::ToInt || op == SymOp::ToReal || op == SymOp::ToBool) return cast(op, x[0]);

    const bool logical = op >= SymOp::And && op <= SymOp::Not;
    if (logical != (type == ScalarType::Bool && !is_comparison(op)))
        return fail(SymFault::BadOperands);
    switch (type) {
        case ScalarType::Int:
            return int_op(op, x);
        case ScalarType::Real:
            return real_op(op, x);
        case ScalarType::Str:
            return string_op(op, x);
        case ScalarType::Bool:
            break;
    }
    if (is_comparison(op)) return compare_bools(op, x[0], x[1]);
    if (op == SymOp::Not) return negation(x[0]);
    if (op == SymOp::Xor) return exclusive(x[0], x[1]);
    return junction(op, x);
}

// ---- the public interface ---------------------------------------------------------------------

SymbolPool::SymbolPool() : impl_(std::make_unique<Impl>()) {}
SymbolPool::~SymbolPool() = default;
SymbolPool::SymbolPool(SymbolPool&&) noexcept = default;
SymbolPool& SymbolPool::operator=(SymbolPool&&) noexcept = default;
void SymbolPool::clear() { impl_->clear(); }

SymbolPool SymbolPool::copy() const {
    SymbolPool made;
    *made.impl_ = *impl_;
    return made;
}

SymId SymbolPool::integer(int64_t value) { return impl_->integer(value); }
SymId SymbolPool::real(double value) { return impl_->real(value); }
SymId SymbolPool::boolean(bool value) { return impl_->boolean(value); }
SymId SymbolPool::string(std::string_view value) { return impl_->string(value); }

SymId SymbolPool::symbol(std::string_view name, ScalarType type, Interval range) {
    if (type == ScalarType::Bool) range = {0, 1};
    if (type == ScalarType::Real || type == ScalarType::Str) range = kAnyInt;
    if (range.low > range.high) range = kAnyInt;
    const SymId id = impl_->append({.kind = NodeKind::Symbol,
                                    .type = type,
                                    .name = impl_->intern_name(name),
                                    .bits = impl_->next_symbol++,
                                    .range = range},
                                   {},
                                   {});
    // Creating monomials in the order of the symbols makes sums print in that order.
    if (type == ScalarType::Int) impl_->atom_mono(id);
    return id;
}

std::optional<SymId> SymbolPool::apply(SymOp op, const std::vector<SymId>& operands) {
    return impl_->dispatch(op, operands);
}
std::optional<SymId> SymbolPool::apply(SymOp op, std::initializer_list<SymId> operands) {
    return impl_->dispatch(op, std::span(operands.begin(), operands.size()));
}
std::optional<SymId> SymbolPool::apply(SymOp op, SymId operand) {
    return impl_->dispatch(op, std::span(&operand, 1));
}
std::optional<SymId> SymbolPool::apply(SymOp op, SymId lhs, SymId rhs) {
    const SymId operands[] = {lhs, rhs};
    return impl_->dispatch(op, operands);
}
std::optional<SymId> SymbolPool::select(SymId condition, SymId consequent, SymId alternative) {
    const SymId operands[] = {condition, consequent, alternative};
    return impl_->dispatch(SymOp::Select, operands);
}
std::optional<SymId> SymbolPool::function(std::string_view name, SymId operand) {
    impl_->fault = SymFault::None;
    return impl_->function(name, operand);
}
SymFault SymbolPool::fault() const { return impl_->fault; }

ScalarType SymbolPool::type(SymId id) const { return impl_->node(id).type; }
bool SymbolPool::is_constant(SymId id) const { return impl_->is_constant(id); }
std::optional<int64_t> SymbolPool::as_int(SymId id) const { return impl_->as_int(id); }
std::optional<double> SymbolPool::as_real(SymId id) const { return impl_->as_real(id); }
std::optional<bool> SymbolPool::as_bool(SymId id) const { return impl_->as_bool(id); }
std::optional<std::string> SymbolPool::as_string(SymId id) const {
    if (!impl_->is(id, NodeKind::Str)) return std::nullopt;
    return impl_->names[impl_->node(id).name];
}

Interval SymbolPool::range(SymId id) const { return impl_->node(id).range; }

size_t SymbolPool::size() const { return impl_->nodes.size(); }

}  // namespace lemma::ir
