// SPDX-License-Identifier: Apache-2.0
// Properties of the expressions of stages.
#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "ir/program/lane_math.h"
#include "loop/stage/stage.h"

namespace lemma::loop {

namespace {

using Range = StagePool::Range;
constexpr Range kAny = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};

Range add(Range a, Range b) {
    const auto low = checked_add(a.low, b.low);
    const auto high = checked_add(a.high, b.high);
    return low && high ? Range{*low, *high} : kAny;
}

Range mul(Range a, Range b) {
    Range result = {kAny.high, kAny.low};
    for (const int64_t x : {a.low, a.high}) {
        for (const int64_t y : {b.low, b.high}) {
            const auto product = checked_mul(x, y);
            if (!product) return kAny;
            result = {std::min(result.low, *product), std::max(result.high, *product)};
        }
    }
    return result;
}

}  // namespace

VarId StagePool::new_var(int64_t extent, ExprId end) {
    extents_.push_back(extent);
    ends_.push_back(end);
    return build.var({});
}

bool StagePool::is_inside(ExprId index, ExprId extent) const {
    const Expr& e = (*this)[index];
    if (const Expr& constant = (*this)[extent]; constant.op == Op::Constant) {
        const Range known = range(index);
        return known.low >= 0 && known.high < constant.integer;
    }
    if (e.op == Op::Var) return end(make_id<VarId>(static_cast<size_t>(e.integer))) == extent;
    return e.op == Op::Assume && e.args.size() == 2 && e.args[1] == extent;
}

namespace {

// Adds to a sum of terms; false if a number overflows.
bool add_scaled(Address& to, const Address& from, int64_t factor) {
    const auto scaled = checked_mul(from.offset, factor);
    const auto offset = scaled ? checked_add(to.offset, *scaled) : std::nullopt;
    if (!offset) return false;
    to.offset = *offset;
    for (const AddressTerm& term : from.terms) {
        const auto at = std::ranges::find(to.terms, term.var, &AddressTerm::var);
        const auto product = checked_mul(term.factor, factor);
        const int64_t before = at != to.terms.end() ? at->factor : 0;
        if (!product || !checked_add(before, *product)) return false;
        to.add(term.var, *product);
    }
    return true;
}

}  // namespace

// Derived numbers, such as the reach of the address, fit as well.
std::optional<Address> StagePool::affine(ExprId id) const {
    constexpr int64_t kFar = int64_t{1} << 60;
    auto result = any_affine(id);
    if (!result) return std::nullopt;
    std::optional<int64_t> reach = ir::checked_abs(result->offset);
    for (const AddressTerm& term : result->terms) {
        const auto factor = ir::checked_abs(term.factor);
        const auto most = factor ? checked_mul(*factor, extent(term.var)) : std::nullopt;
        reach = reach && most ? checked_add(*reach, *most) : std::nullopt;
    }
    return reach && *reach <= kFar ? std::move(result) : std::nullopt;
}

std::optional<Address> StagePool::any_affine(ExprId id) const {
    const Expr& e = (*this)[id];
    switch (e.op) {
        case Op::Constant:
            return Address{.offset = e.integer, .terms = {}, .dynamic = {}};
        case Op::Var: {
            Address result;
            result.add(make_id<VarId>(static_cast<size_t>(e.integer)), 1);
            return result;
        }
        case Op::Assume:
            return any_affine(e.args[0]);
        case Op::Add:
        case Op::Sub: {
            auto a = any_affine(e.args[0]);
            const auto b = any_affine(e.args[1]);
            if (!a || !b || !add_scaled(*a, *b, e.op == Op::Add ? 1 : -1)) return std::nullopt;
            return a;
        }
        case Op::Mul: {
            auto a = any_affine(e.args[0]);
            auto b = any_affine(e.args[1]);
            if (!a || !b) return std::nullopt;
            if (!b->terms.empty()) std::swap(a, b);
            if (!b->terms.empty()) return std::nullopt;
            Address result;
            if (!add_scaled(result, *a, b->offset)) return std::nullopt;
            return result;
        }
        default:
            return std::nullopt;
    }
}

StagePool::Range StagePool::range(ExprId id) const {
    const Expr& e = (*this)[id];
    if (e.type.kind != Kind::Int) return kAny;
    const auto arg = [&](size_t i) { return range(e.args[i]); };
    switch (e.op) {
        case Op::Constant:
            return {e.integer, e.integer};
        case Op::Var:
            return {0, extents_[static_cast<size_t>(e.integer)] - 1};
        case Op::Assume: {
            const Range inner = arg(0);
            return {std::max<int64_t>(inner.low, 0), std::min(inner.high, e.integer - 1)};
        }
        case Op::Add:
            return add(arg(0), arg(1));
        case Op::Sub:
            return add(arg(0), mul(arg(1), {-1, -1}));
        case Op::Mul:
            return mul(arg(0), arg(1));
        case Op::Min: {
            const Range a = arg(0), b = arg(1);
            return {std::min(a.low, b.low), std::min(a.high, b.high)};
        }
        case Op::Max: {
            const Range a = arg(0), b = arg(1);
            return {std::max(a.low, b.low), std::max(a.high, b.high)};
        }
        case Op::Div: {
            const Range a = arg(0), b = arg(1);
            if (b.low != b.high || b.low <= 0) return kAny;
            return {ir::total_div(a.low, b.low), ir::total_div(a.high, b.low)};
        }
        case Op::Mod: {
            const Range b = arg(1);
            if (b.low != b.high || b.low <= 0) return kAny;
            return {0, b.low - 1};
        }
        case Op::Select: {
            const Range a = arg(1), b = arg(2);
            return {std::min(a.low, b.low), std::max(a.high, b.high)};
        }
        case Op::Cast:
            return (*this)[e.args[0]].type.kind == Kind::Bool ? Range{0, 1} : kAny;
        default:
            return kAny;
    }
}

bool StagePool::depends(ExprId id, VarId var) const { return depends_on_any(id, {var}); }

bool StagePool::depends_on_any(ExprId id, const std::vector<VarId>& vars) const {
    std::vector<ExprId> work = {id};
    std::unordered_map<ExprId, bool, IdHash> seen;
    while (!work.empty()) {
        const ExprId at = work.back();
        work.pop_back();
        if (!at.valid() || !seen.emplace(at, true).second) continue;
        const Expr& e = (*this)[at];
        if (e.op == Op::Var) {
            for (const VarId var : vars) {
                if (e.integer == var.value) return true;
            }
        }
        work.insert(work.end(), e.args.begin(), e.args.end());
    }
    return false;
}

namespace {

// What the ranges of the operands say about an operation on integers; missing: nothing.
ExprId decide(StagePool& pool, ExprId id) {
    const Expr e = pool[id];
    if (e.args.size() != 2 || pool[e.args[0]].type.kind != Kind::Int) return {};
    const Range a = pool.range(e.args[0]), b = pool.range(e.args[1]);
    switch (e.op) {
        case Op::Less:
            if (a.high < b.low) return pool.build.boolean(true);
            return a.low >= b.high ? pool.build.boolean(false) : ExprId();
        case Op::LessEqual:
            if (a.high <= b.low) return pool.build.boolean(true);
            return a.low > b.high ? pool.build.boolean(false) : ExprId();
        case Op::Equal:
            if (a.low == a.high && b.low == b.high && a.low == b.low) {
                return pool.build.boolean(true);
            }
            return a.high < b.low || b.high < a.low ? pool.build.boolean(false) : ExprId();
        case Op::Min:
            if (a.high <= b.low) return e.args[0];
            return b.high <= a.low ? e.args[1] : ExprId();
        case Op::Max:
            if (a.low >= b.high) return e.args[0];
            return b.low >= a.high ? e.args[1] : ExprId();
        default:
            return {};
    }
}

class Substitution {
public:
    Substitution(StagePool& pool, const std::unordered_map<VarId, ExprId, IdHash>& with)
        : pool_(pool), with_(with) {}
    // Replaces what ranges decide.
    explicit Substitution(StagePool& pool) : pool_(pool), with_(kNone), decides_(true) {}
    Substitution(StagePool& pool, ExprId from, ExprId to) : pool_(pool), with_(kNone) {
        done_[from] = to;
    }

    ExprId operator()(ExprId id) {
        if (!id.valid()) return id;
        if (const auto found = done_.find(id); found != done_.end()) return found->second;
        const Expr e = pool_[id];
        ExprId result = id;
        if (e.op == Op::Var) {
            const auto found = with_.find(make_id<VarId>(static_cast<size_t>(e.integer)));
            if (found != with_.end()) result = found->second;
        } else if (!e.args.empty()) {
            result = rebuild(e, id);
            const ExprId decided = decides_ ? decide(pool_, result) : ExprId();
            if (decided.valid()) result = decided;
        }
        done_[id] = result;
        return result;
    }

private:
    ExprId rebuild(const Expr& e, ExprId id) {
        std::vector<ExprId> args;
        for (const ExprId arg : e.args) args.push_back((*this)(arg));
        if (args == e.args) return id;
        switch (e.op) {
            case Op::Read:
                return pool_.build.read(
                    static_cast<uint32_t>(e.integer), e.type.kind, std::move(args));
            case Op::Assume:
                return pool_.build.assume(
                    args[0], e.integer, args.size() == 2 ? args[1] : ExprId());
            case Op::Cast:
                return pool_.build.cast(args[0], e.type.kind);
            case Op::Library:
                return pool_.build.library(e.name, std::move(args));
            default:
                return pool_.build.make(e.op, std::move(args));
        }
    }

    static inline const std::unordered_map<VarId, ExprId, IdHash> kNone;

    StagePool& pool_;
    const std::unordered_map<VarId, ExprId, IdHash>& with_;
    bool decides_ = false;
    std::unordered_map<ExprId, ExprId, IdHash> done_;
};

}  // namespace

ExprId StagePool::substitute(ExprId id, const std::unordered_map<VarId, ExprId, IdHash>& with) {
    return Substitution(*this, with)(id);
}

ExprId StagePool::simplify(ExprId id) { return Substitution(*this)(id); }

bool StagePool::has_part(ExprId id, ExprId part) const {
    std::vector<ExprId> work = {id};
    std::unordered_map<ExprId, bool, IdHash> seen;
    while (!work.empty()) {
        const ExprId at = work.back();
        work.pop_back();
        if (at == part) return true;
        if (!seen.emplace(at, true).second) continue;
        const Expr& e = (*this)[at];
        work.insert(work.end(), e.args.begin(), e.args.end());
    }
    return false;
}

ExprId StagePool::replace(ExprId id, ExprId from, ExprId to) {
    return Substitution(*this, from, to)(id);
}

}  // namespace lemma::loop
