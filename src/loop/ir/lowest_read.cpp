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

// The ranges of variables for items from `first_item` on.
class Ranges {
public:
    Ranges(const Function& function, int64_t first_item) : f_(function) {
        known_[function.item] = {first_item, function.items - 1};
        visit(function.body);
    }

    MaybeRange of(VarId var) const {
        const auto found = known_.find(var);
        return found == known_.end() ? std::nullopt : MaybeRange(found->second);
    }
    MaybeRange of(ExprId id) const;

private:
    void visit(const Block& block);
    MaybeRange quotient(const Expr& expr) const;

    const Function& f_;
    std::unordered_map<VarId, Range, IdHash> known_;
};

void Ranges::visit(const Block& block) {
    for (const Stmt& stmt : block) {
        if (const auto* const loop = std::get_if<For>(&stmt.node)) {
            const auto begin = of(loop->begin);
            const auto end = of(loop->end);
            if (begin && end)
                known_[loop->var] = {begin->first, std::max(begin->first, end->last - 1)};
            visit(loop->body);
        } else if (const auto* const branch = std::get_if<If>(&stmt.node)) {
            visit(branch->body);
        } else if (const auto* const bind = std::get_if<Bind>(&stmt.node)) {
            if (const auto value = of(bind->value)) known_[bind->var] = *value;
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

}  // namespace

std::optional<int64_t> lowest_read(const Function& function, BufferId buffer, int64_t first_item) {
    const Ranges ranges(function, first_item);
    std::optional<int64_t> lowest;
    for (const Expr& expr : function.exprs) {
        if (expr.op != Op::Load || expr.buffer != buffer) continue;
        if (expr.address.dynamic.valid()) return std::nullopt;
        MaybeRange sum = Range{expr.address.offset, expr.address.offset};
        for (const AddressTerm& term : expr.address.terms) {
            const auto value = ranges.of(term.var);
            const auto part = value ? times(*value, term.factor) : std::nullopt;
            sum = sum && part ? plus(*sum, *part) : std::nullopt;
        }
        const auto lanes = times({0, expr.type.lanes - 1}, expr.address.lane_stride);
        sum = sum && lanes ? plus(*sum, *lanes) : std::nullopt;
        if (!sum) return std::nullopt;
        lowest = std::min(lowest.value_or(sum->first), sum->first);
    }
    return lowest;
}

}  // namespace lemma::loop
