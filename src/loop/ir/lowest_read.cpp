// SPDX-License-Identifier: Apache-2.0
#include "loop/ir/lowest_read.h"

#include <algorithm>
#include <unordered_map>

#include "base/checked.h"

namespace lemma::loop {

namespace {

struct Range {
    int64_t first = 0, last = 0;
};
using MaybeRange = std::optional<Range>;

MaybeRange plus(const Range& a, const Range& b) {
    const auto first = checked_add(a.first, b.first);
    const auto last = checked_add(a.last, b.last);
    if (!first || !last) return std::nullopt;
    return Range{*first, *last};
}

MaybeRange times(const Range& a, int64_t factor) {
    const auto x = checked_mul(a.first, factor);
    const auto y = checked_mul(a.last, factor);
    if (!x || !y) return std::nullopt;
    return Range{std::min(*x, *y), std::max(*x, *y)};
}

// The ranges of variables for items from `first_item` on. Several loops and bindings may give a
// variable its value; its range holds the values of all of them.
class Ranges {
public:
    Ranges(const Function& function, int64_t first_item) : f_(function) {
        add(function.item, Range{first_item, function.items - 1});
        visit(function.body);
    }

    MaybeRange of(VarId var) const {
        const auto found = known_.find(var);
        return found == known_.end() ? std::nullopt : found->second;
    }
    MaybeRange of(ExprId id) const;
    // Of an address without its lanes.
    MaybeRange of(const Address& address) const;
    // Rows that go to tile registers are read by statements.
    const std::vector<const TileStmt*>& tile_loads() const { return tile_loads_; }

private:
    void add(VarId var, const MaybeRange& values);
    void visit(const Block& block);
    MaybeRange quotient(const Expr& expr) const;

    const Function& f_;
    std::unordered_map<VarId, MaybeRange, IdHash> known_;  // empty: could be anything
    std::vector<const TileStmt*> tile_loads_;
};

void Ranges::add(VarId var, const MaybeRange& values) {
    const auto [found, is_new] = known_.emplace(var, values);
    if (is_new) return;
    MaybeRange& known = found->second;
    if (known && values) {
        known = Range{std::min(known->first, values->first), std::max(known->last, values->last)};
    } else {
        known = std::nullopt;
    }
}

void Ranges::visit(const Block& block) {
    for (const Stmt& stmt : block) {
        if (const auto* const loop = std::get_if<For>(&stmt.node)) {
            const auto begin = of(loop->begin);
            const auto end = of(loop->end);
            const bool known = begin && end && loop->step > 0;
            add(loop->var,
                known ? MaybeRange({begin->first, std::max(begin->first, end->last - 1)})
                      : std::nullopt);
            visit(loop->body);
        } else if (const auto* const branch = std::get_if<If>(&stmt.node)) {
            visit(branch->body);
        } else if (const auto* const bind = std::get_if<Bind>(&stmt.node)) {
            add(bind->var, of(bind->value));
        } else if (const auto* const tile = std::get_if<TileStmt>(&stmt.node)) {
            if (tile->action == TileAction::Load) tile_loads_.push_back(tile);
        }
    }
}

// Division and remainder of non-negative numbers by a constant, as in the decomposition of items.
MaybeRange Ranges::quotient(const Expr& expr) const {
    const auto a = of(expr.args[0]);
    const auto b = of(expr.args[1]);
    if (!a || !b || a->first < 0 || b->first != b->last || b->first <= 0) return std::nullopt;
    const int64_t divisor = b->first;
    if (expr.op == Op::Div) return Range{a->first / divisor, a->last / divisor};
    if (a->first / divisor == a->last / divisor)
        return Range{a->first % divisor, a->last % divisor};
    return Range{0, divisor - 1};
}

MaybeRange Ranges::of(ExprId id) const {
    const Expr& expr = f_[id];
    if (expr.type != Type{Kind::Int, 1}) return std::nullopt;
    switch (expr.op) {
        case Op::Constant:
            return Range{expr.integer, expr.integer};
        case Op::Var:
            return of(make_id<VarId>(static_cast<size_t>(expr.integer)));
        case Op::Add: {
            const auto a = of(expr.args[0]);
            const auto b = of(expr.args[1]);
            return a && b ? plus(*a, *b) : std::nullopt;
        }
        case Op::Mul: {
            const auto a = of(expr.args[0]);
            const auto b = of(expr.args[1]);
            return a && b && b->first == b->last ? times(*a, b->first) : std::nullopt;
        }
        case Op::Div:
        case Op::Mod:
            return quotient(expr);
        default:
            return std::nullopt;
    }
}

MaybeRange Ranges::of(const Address& address) const {
    if (address.dynamic.valid()) return std::nullopt;
    MaybeRange sum = Range{address.offset, address.offset};
    for (const AddressTerm& term : address.terms) {
        const auto value = of(term.var);
        const auto part = value ? times(*value, term.factor) : std::nullopt;
        sum = sum && part ? plus(*sum, *part) : std::nullopt;
    }
    return sum;
}

}  // namespace

std::optional<int64_t> lowest_read(const Function& function, BufferId buffer, int64_t first_item) {
    const Ranges ranges(function, first_item);
    std::optional<int64_t> lowest;
    // Elements at an address, and those `stride` apart behind it or before it.
    const auto reads = [&](const Address& address, int64_t count, int64_t stride) {
        auto sum = ranges.of(address);
        const auto more = times({0, count - 1}, stride);
        sum = sum && more ? plus(*sum, *more) : std::nullopt;
        if (sum) lowest = std::min(lowest.value_or(sum->first), sum->first);
        return sum.has_value();
    };
    for (const Expr& expr : function.exprs) {
        if (expr.op != Op::Load || expr.buffer != buffer) continue;
        if (!reads(expr.address, expr.type.lanes, expr.address.lane_stride)) return std::nullopt;
    }
    for (const TileStmt* const load : ranges.tile_loads()) {
        if (load->buffer != buffer) continue;
        const auto tile = static_cast<size_t>(load->tile);
        if (!reads(load->address, function.tiles[tile].rows, load->stride)) return std::nullopt;
    }
    return lowest;
}

}  // namespace lemma::loop
