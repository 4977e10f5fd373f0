// SPDX-License-Identifier: Apache-2.0
#include "loop/stage/index_fit.h"

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "ir/program/lane_math.h"

namespace lemma::loop {

namespace {

using Range = StagePool::Range;
constexpr Range kAny = {INT64_MIN, INT64_MAX};
constexpr int64_t kSmall = int64_t{1} << 61;  // may be added to any run-time value

int64_t furthest(Range range) {
    return std::max(ir::checked_abs(range.low).value_or(INT64_MAX),
                    ir::checked_abs(range.high).value_or(INT64_MAX));
}

bool compares(Op op) { return op >= Op::Less && op <= Op::NotEqual; }

// The ranges of all numbers that an index is computed from; run-time values have the range of
// leaves.
class Ranges {
public:
    Ranges(const StagePool& pool, Range leaf) : pool_(pool), leaf_(leaf) {}

    // Nothing if a number may overflow.
    std::optional<Range> of(ExprId id) {
        const auto [known, fresh] = known_.try_emplace(id);
        if (!fresh) return known->second;
        auto range = compute(pool_[id]);
        return known_[id] = range;
    }

private:
    std::optional<Range> compute(const Expr& e) {
        switch (e.op) {
            case Op::Constant:
                return Range{e.integer, e.integer};
            case Op::Var:
                return Range{0, pool_.extent(make_id<VarId>(static_cast<size_t>(e.integer))) - 1};
            case Op::Assume:
                return of(e.args[0]);
            case Op::Add:
            case Op::Sub:
            case Op::Mul:
            case Op::Div:
            case Op::Mod:
            case Op::Min:
            case Op::Max:
                return of_both(e);
            case Op::Neg:
            case Op::Abs: {
                const auto a = of(e.args[0]);
                if (!a) return std::nullopt;
                return hull({checked_sub(0, a->low), checked_sub(0, a->high), a->low, a->high});
            }
            case Op::Select:
                return of_select(e);
            case Op::Cast:
                if (pool_[e.args[0]].type.kind == Kind::Bool) return of_condition(e.args[0]);
                return leaf_;
            default:
                return leaf_;
        }
    }
    std::optional<Range> of_both(const Expr& e) {
        const auto a = of(e.args[0]);
        const auto b = of(e.args[1]);
        if (!a || !b) return std::nullopt;
        switch (e.op) {
            case Op::Add:
                return hull({checked_add(a->low, b->low), checked_add(a->high, b->high)});
            case Op::Sub:
                return hull({checked_sub(a->low, b->high), checked_sub(a->high, b->low)});
            case Op::Mul:
                return hull({checked_mul(a->low, b->low),
                             checked_mul(a->low, b->high),
                             checked_mul(a->high, b->low),
                             checked_mul(a->high, b->high)});
            case Op::Min:
                return Range{std::min(a->low, b->low), std::min(a->high, b->high)};
            case Op::Max:
                return Range{std::max(a->low, b->low), std::max(a->high, b->high)};
            case Op::Mod:
                return b->low > 0 ? Range{0, b->high - 1} : *b;
            default: {  // a quotient is nearer to 0, or is -1
                if (a->low >= 0 && b->low > 0) return Range{0, a->high};
                const int64_t most = std::max({furthest(*a), int64_t{1}});
                return Range{std::min(a->low, -most), most};
            }
        }
    }
    static std::optional<Range> hull(std::initializer_list<std::optional<int64_t>> ends) {
        Range result{INT64_MAX, INT64_MIN};
        for (const auto& end : ends) {
            if (!end) return std::nullopt;
            result = {std::min(result.low, *end), std::max(result.high, *end)};
        }
        return result;
    }
    std::optional<Range> of_select(const Expr& e) {
        const auto condition = of_condition(e.args[0]);
        const auto a = of(e.args[1]);
        const auto b = of(e.args[2]);
        if (!condition || !a || !b) return std::nullopt;
        return Range{std::min(a->low, b->low), std::max(a->high, b->high)};
    }
    // A comparison decides about an index, too.
    std::optional<Range> of_condition(ExprId id) {
        const Expr& e = pool_[id];
        const bool numbers = compares(e.op) && pool_[e.args[0]].type.kind == Kind::Int;
        const bool logic = e.op == Op::And || e.op == Op::Or || e.op == Op::Xor || e.op == Op::Not;
        if (!numbers && !logic) return Range{0, 1};
        for (const ExprId arg : e.args) {
            if (numbers ? !of(arg) : !of_condition(arg)) return std::nullopt;
        }
        return Range{0, 1};
    }

    const StagePool& pool_;
    Range leaf_;
    std::unordered_map<ExprId, std::optional<Range>, IdHash> known_;
};

class Fit {
public:
    Fit(StagePool& pool, RunEnds* ends) : pool_(pool), ends_(ends) {}

    IndexFit of(ExprId index) {
        using When = IndexFit::When;
        if (fits(index)) return {};
        if (is_near_leaf(index, kSmall)) return {When::OutsideElse, {}};
        const std::vector<ExprId> leaves = leaves_of(index);
        if (leaves.empty() && ends_) {
            add_size(index);
            return {};
        }
        constexpr int64_t kLeast = 1 << 16;
        const auto good = [&](Range range) { return Ranges(pool_, range).of(index).has_value(); };
        if (leaves.empty() || !good({-kLeast, kLeast})) return {When::Unknown, {}};
        // Bisection: the largest run-time values that fit.
        int64_t most = kLeast;
        for (int64_t step = int64_t{1} << 62; step > 0; step /= 2) {
            const int64_t more = most < INT64_MAX - step ? most + step : most;
            if (good({-more, more})) most = more;
        }
        Range range{-most, most};
        if (good({INT64_MIN, most})) range.low = INT64_MIN;
        if (range.low == -most && good({-most, INT64_MAX})) range.high = INT64_MAX;
        return {When::Sometimes, all_within(leaves, range)};
    }

private:
    bool fits(ExprId id) const { return Ranges(pool_, kAny).of(id).has_value(); }
    bool is_leaf(const Expr& e) const {
        const bool told =
            e.op == Op::Read || (e.op == Op::Cast && pool_[e.args[0]].type.kind != Kind::Bool);
        return told && e.type.kind == Kind::Int;
    }
    // Whether it is a run-time value plus or minus at most `room`.
    bool is_near_leaf(ExprId id, int64_t room) {
        const Expr e = pool_[id];
        if (is_leaf(e)) return true;
        if (e.op == Op::Select) {
            Builder& build = pool_.build;
            const bool decided = fits(build.select(e.args[0], build.integer(0), build.integer(1)));
            return decided && (fits(e.args[1]) || is_near_leaf(e.args[1], room)) &&
                   (fits(e.args[2]) || is_near_leaf(e.args[2], room));
        }
        if (e.op != Op::Add && e.op != Op::Sub) return false;
        for (size_t i = 0; i < 2; ++i) {
            const auto other = Ranges(pool_, kAny).of(e.args[1 - i]);
            const int64_t far = other ? furthest(*other) : INT64_MAX;
            if (far <= room && is_near_leaf(e.args[i], room - far)) return true;
        }
        return false;
    }
    // Run-time values that the index is computed from.
    std::vector<ExprId> leaves_of(ExprId index) const {
        std::vector<ExprId> leaves;
        std::vector<ExprId> work = {index};
        std::unordered_map<ExprId, bool, IdHash> seen;
        while (!work.empty()) {
            const ExprId at = work.back();
            work.pop_back();
            if (!seen.emplace(at, true).second) continue;
            const Expr& e = pool_[at];
            if (is_leaf(e)) leaves.push_back(at);
            if (is_leaf(e) || e.op == Op::Read || e.type.real()) continue;
            work.insert(work.end(), e.args.begin(), e.args.end());
        }
        return leaves;
    }
    ExprId all_within(const std::vector<ExprId>& leaves, Range range) {
        Builder& build = pool_.build;
        ExprId good = build.boolean(true);
        for (const ExprId leaf : leaves) {
            if (range.low != kAny.low) {
                const ExprId low = build.make(Op::LessEqual, {build.integer(range.low), leaf});
                good = build.make(Op::And, {good, low});
            }
            if (range.high != kAny.high) {
                const ExprId high = build.make(Op::LessEqual, {leaf, build.integer(range.high)});
                good = build.make(Op::And, {good, high});
            }
        }
        return good;
    }

    // The largest size of the index, with the ends of variables instead of the variables; of a
    // quotient or a remainder, also the size of the dividend.
    void add_size(ExprId index) {
        const ExprId size = size_of(index);
        if (pool_[size].op != Op::Constant) ends_->sizes.push_back(size);
    }
    ExprId size_of(ExprId id) {
        Builder& build = pool_.build;
        const Expr e = pool_[id];
        const auto number = [&](double value) { return build.real(value, Kind::F64); };
        switch (e.op) {
            case Op::Constant:
                return number(std::abs(static_cast<double>(e.integer)));
            case Op::Var: {
                const auto var = make_id<VarId>(static_cast<size_t>(e.integer));
                const auto end = ends_->ends.find(var);
                if (end == ends_->ends.end()) {
                    return number(static_cast<double>(pool_.extent(var)));
                }
                return build.cast(end->second, Kind::F64);
            }
            case Op::Assume:
                return size_of(e.args[0]);
            case Op::Add:
            case Op::Sub:
                return together(Op::Add, size_of(e.args[0]), size_of(e.args[1]));
            case Op::Mul:
                return together(Op::Mul, size_of(e.args[0]), size_of(e.args[1]));
            case Op::Div:
            case Op::Mod:
                add_size(e.args[0]);
                return size_of(e.args[e.op == Op::Div ? 0 : 1]);
            case Op::Min:
            case Op::Max:
                return together(Op::Max, size_of(e.args[0]), size_of(e.args[1]));
            case Op::Select:
                return together(Op::Max, size_of(e.args[1]), size_of(e.args[2]));
            default:  // checked as a run-time value
                return number(1);
        }
    }
    // Constant reals are folded here alone.
    ExprId together(Op op, ExprId a, ExprId b) {
        const Expr x = pool_[a], y = pool_[b];
        if (x.op != Op::Constant || y.op != Op::Constant) return pool_.build.make(op, {a, b});
        const double value = op == Op::Add   ? x.real + y.real
                             : op == Op::Mul ? x.real * y.real
                                             : std::max(x.real, y.real);
        return pool_.build.real(value, Kind::F64);
    }

    StagePool& pool_;
    RunEnds* ends_;
};

}  // namespace

IndexFit index_fit(StagePool& pool, ExprId index, RunEnds* ends) {
    return Fit(pool, ends).of(index);
}

}  // namespace lemma::loop
