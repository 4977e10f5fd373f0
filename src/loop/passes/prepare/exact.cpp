// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/exact.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lemma::loop {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Float has all whole numbers up to here.
constexpr double kMostWhole = 1 << 24;

// A double as a float of the same value, with its range.
struct Float {
    ExprId value;
    bool whole = false;
    double low = -kInfinity, high = kInfinity;

    bool small() const { return whole && low >= -kMostWhole && high <= kMostWhole; }
};

class ExactValues {
public:
    explicit ExactValues(StageGraph& graph)
        : graph_(graph), pool_(graph.pool), build_(graph.pool.build) {}

    ExprId rewrite(ExprId id) {
        if (const auto found = rewritten_.find(id); found != rewritten_.end()) return found->second;
        const ExprId result = compute(id);
        rewritten_[id] = result;
        return result;
    }
    // A value that is stored in a tensor of this kind.
    ExprId stored(ExprId id, Kind kind) {
        const ExprId value = rewrite(id);
        if (pool_[value].type.kind != Kind::F64 || kind == Kind::F64) return value;
        return rewrite(build_.cast(id, kind));
    }

private:
    ExprId compute(ExprId id) {
        const Expr e = pool_[id];  // the pool may grow
        if (e.op == Op::Cast && pool_[e.args[0]].type.kind == Kind::F64) {
            const ExprId from = e.type.kind == Kind::Int ? with_rint(e.args[0]) : e.args[0];
            if (const ExprId whole = rounded_once(e); whole.valid()) return whole;
            if (const auto exact = as_float(from)) return build_.cast(exact->value, e.type.kind);
            return build_.cast(rewrite(from), e.type.kind);
        }
        if (compares(e)) {
            const auto a = as_float(e.args[0]);
            const auto b = a ? as_float(e.args[1]) : std::nullopt;
            if (b) return build_.make(e.op, {a->value, b->value});
        }
        return rebuilt(id, e, [&](ExprId arg) { return rewrite(arg); });
    }
    // An int of 32 bits by way of double: double has it, so that it is rounded once.
    ExprId rounded_once(const Expr& e) {
        const Expr& wide = pool_[e.args[0]];
        if (e.type.kind != Kind::F32 || wide.op != Op::Cast) return {};
        const Expr& element = pool_[wide.args[0]];
        if (element.op != Op::Read || element.type.kind != Kind::Int) return {};
        const tensor::DType dtype = graph_.dtypes.at(tensor_of(element));
        if (dtype != tensor::DType::I32 && dtype != tensor::DType::U32) return {};
        return build_.cast(rewrite(wide.args[0]), Kind::F32);
    }
    bool compares(const Expr& e) const {
        const bool comparison =
            e.op == Op::Less || e.op == Op::LessEqual || e.op == Op::Equal || e.op == Op::NotEqual;
        return comparison && pool_[e.args[0]].type.kind == Kind::F64;
    }
    template <class Visit>
    ExprId rebuilt(ExprId id, const Expr& e, Visit&& visit) {
        ExprId result = id;
        for (const ExprId arg : e.args) {
            const ExprId now = visit(arg);
            if (now != arg) result = pool_.replace(result, arg, now);
        }
        return result;
    }

    // ---- Rounding to even -----------------------------------------------------------------------

    // The value with its roundings to even as one operation. It becomes an int, so that the sign of
    // a zero does not count.
    ExprId with_rint(ExprId id) {
        const Expr e = pool_[id];
        if (const ExprId rounded = rounds_to_even(id); rounded.valid()) {
            return build_.make(Op::Rint, {rounded});
        }
        const bool passes = e.op == Op::Add || e.op == Op::Min || e.op == Op::Max;
        if (!passes) return id;
        if (e.op == Op::Add && is_number(e.args[1], 0)) return with_rint(e.args[0]);
        return build_.make(e.op, {with_rint(e.args[0]), with_rint(e.args[1])});
    }
    // x, for the value: with below = floor(x) and rest = x - below,
    // rest == 0.5 ? below + below % 2 : 0.5 < rest ? below + 1 : below
    ExprId rounds_to_even(ExprId id) const {
        const Expr& e = pool_[id];
        if (e.op != Op::Select) return {};
        const Expr& tie = pool_[e.args[0]];
        const Expr& other = pool_[e.args[2]];
        if (tie.op != Op::Equal || other.op != Op::Select) return {};
        const ExprId rest = is_number(tie.args[1], 0.5) ? tie.args[0] : tie.args[1];
        const Expr& difference = pool_[rest];
        if (difference.op != Op::Sub || difference.type.kind != Kind::F64) return {};
        const auto [x, below] = std::pair(difference.args[0], difference.args[1]);
        const Expr& above = pool_[other.args[0]];
        const bool good = pool_[below].op == Op::Floor && pool_[below].args[0] == x &&
                          (is_number(tie.args[0], 0.5) || is_number(tie.args[1], 0.5)) &&
                          above.op == Op::Less && is_number(above.args[0], 0.5) &&
                          above.args[1] == rest && is_next(other.args[1], below) &&
                          other.args[2] == below && is_even_above(e.args[1], below);
        return good ? x : ExprId();
    }
    bool is_number(ExprId id, double number) const {
        const Expr& e = pool_[id];
        return e.op == Op::Constant && e.type.real() && e.real == number;
    }
    bool is_next(ExprId id, ExprId below) const {
        const Expr& e = pool_[id];
        if (e.op != Op::Add) return false;
        return (e.args[0] == below && is_number(e.args[1], 1)) ||
               (e.args[1] == below && is_number(e.args[0], 1));
    }
    // below + (below - floor(below / 2) * 2)
    bool is_even_above(ExprId id, ExprId below) const {
        const Expr& sum = pool_[id];
        if (sum.op != Op::Add || sum.args[0] != below) return false;
        const Expr& odd = pool_[sum.args[1]];
        if (odd.op != Op::Sub || odd.args[0] != below) return false;
        const Expr& even = pool_[odd.args[1]];
        if (even.op != Op::Mul || !is_number(even.args[1], 2)) return false;
        const Expr& half = pool_[even.args[0]];
        if (half.op != Op::Floor) return false;
        const Expr& quotient = pool_[half.args[0]];
        return quotient.op == Op::Div && quotient.args[0] == below &&
               is_number(quotient.args[1], 2);
    }

    // ---- Doubles as floats ----------------------------------------------------------------------

    std::optional<Float> as_float(ExprId id) {
        if (const auto found = floats_.find(id); found != floats_.end()) return found->second;
        std::optional<Float> result;
        if (pool_[id].type.kind == Kind::F64) result = find_float(id);
        floats_[id] = result;
        return result;
    }
    std::optional<Float> find_float(ExprId id) {
        const Expr e = pool_[id];
        switch (e.op) {
            case Op::Constant:
                if (static_cast<double>(static_cast<float>(e.real)) != e.real) return std::nullopt;
                return Float{
                    build_.real(e.real, Kind::F32), std::floor(e.real) == e.real, e.real, e.real};
            case Op::Cast:
                return from_cast(e);
            case Op::Rint:
            case Op::Floor:
            case Op::Ceil:
            case Op::Trunc: {
                const auto x = as_float(e.args[0]);
                if (!x) return std::nullopt;
                return Float{build_.make(e.op, {x->value}), true, x->low - 1, x->high + 1};
            }
            case Op::Neg: {
                const auto x = as_float(e.args[0]);
                if (!x) return std::nullopt;
                return Float{build_.make(Op::Neg, {x->value}), x->whole, -x->high, -x->low};
            }
            case Op::Add:
            case Op::Sub:
                return sum(e);
            case Op::Min:
            case Op::Max:
                return extreme(e);
            case Op::Select: {
                const auto a = as_float(e.args[1]);
                const auto b = a ? as_float(e.args[2]) : std::nullopt;
                if (!b) return std::nullopt;
                return Float{build_.select(rewrite(e.args[0]), a->value, b->value),
                             a->whole && b->whole,
                             std::min(a->low, b->low),
                             std::max(a->high, b->high)};
            }
            default:
                return std::nullopt;
        }
    }
    std::optional<Float> from_cast(const Expr& e) {
        const Expr& from = pool_[e.args[0]];
        if (from.type.kind == Kind::F32) return Float{rewrite(e.args[0])};
        if (from.type.kind == Kind::Bool) {
            return Float{build_.cast(rewrite(e.args[0]), Kind::F32), true, 0, 1};
        }
        if (from.op != Op::Read) return std::nullopt;
        Float result{{}, true};
        switch (graph_.dtypes.at(tensor_of(from))) {
            case tensor::DType::U8:
                result.low = 0, result.high = 255;
                break;
            case tensor::DType::I8:
                result.low = -128, result.high = 127;
                break;
            case tensor::DType::U16:
                result.low = 0, result.high = 65535;
                break;
            case tensor::DType::I16:
                result.low = -32768, result.high = 32767;
                break;
            default:
                return std::nullopt;
        }
        result.value = build_.cast(rewrite(e.args[0]), Kind::F32);
        return result;
    }
    std::optional<Float> sum(const Expr& e) {
        const auto a = as_float(e.args[0]);
        const auto b = a ? as_float(e.args[1]) : std::nullopt;
        if (!b || !a->small() || !b->small()) return std::nullopt;
        if (e.op == Op::Sub && is_number(e.args[1], 0) && !std::signbit(pool_[e.args[1]].real)) {
            return a;
        }
        const bool adds = e.op == Op::Add;
        const Float result{build_.make(e.op, {a->value, b->value}),
                           true,
                           a->low + (adds ? b->low : -b->high),
                           a->high + (adds ? b->high : -b->low)};
        return result.small() ? std::optional(result) : std::nullopt;
    }
    std::optional<Float> extreme(const Expr& e) {
        if (const auto clamped = clamp(e)) return clamped;
        const auto a = as_float(e.args[0]);
        const auto b = a ? as_float(e.args[1]) : std::nullopt;
        if (!b) return std::nullopt;
        const bool least = e.op == Op::Min;
        return Float{build_.make(e.op, {a->value, b->value}),
                     a->whole && b->whole,
                     least ? std::min(a->low, b->low) : std::max(a->low, b->low),
                     least ? std::min(a->high, b->high) : std::max(a->high, b->high)};
    }
    // A whole number of any size plus a small one, limited to a small range. Where float rounds the
    // sum, the sum is far outside the range.
    std::optional<Float> clamp(const Expr& outer) {
        constexpr double kMostShift = 1 << 16, kMostLimit = 1 << 22;
        const Expr inner = pool_[outer.args[0]];
        const bool both = (outer.op == Op::Min && inner.op == Op::Max) ||
                          (outer.op == Op::Max && inner.op == Op::Min);
        if (!both) return std::nullopt;
        const auto one = as_float(outer.args[1]);
        const auto other = as_float(inner.args[1]);
        const Expr moved = pool_[inner.args[0]];
        if (!one || !other || moved.op != Op::Add) return std::nullopt;
        auto x = as_float(moved.args[0]);
        auto shift = as_float(moved.args[1]);
        if (!x || !shift) return std::nullopt;
        if (!within(*shift, kMostShift)) std::swap(x, shift);
        if (!x->whole || !within(*shift, kMostShift) || !within(*one, kMostLimit) ||
            !within(*other, kMostLimit)) {
            return std::nullopt;
        }
        const ExprId sum = build_.make(Op::Add, {x->value, shift->value});
        const ExprId half = build_.make(inner.op, {sum, other->value});
        return Float{build_.make(outer.op, {half, one->value}),
                     true,
                     std::min(one->low, other->low),
                     std::max(one->high, other->high)};
    }
    static bool within(const Float& x, double limit) {
        return x.whole && x.low >= -limit && x.high <= limit;
    }

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    std::unordered_map<ExprId, ExprId, IdHash> rewritten_;
    std::unordered_map<ExprId, std::optional<Float>, IdHash> floats_;
};

}  // namespace

int compute_exactly(StageGraph& graph) {
    ExactValues exact(graph);
    int count = 0;
    const auto rewrite = [&](std::vector<Stage>& stages) {
        for (Stage& stage : stages) {
            const bool assigns = stage.combine == ir::FormulaOp::Assign;
            for (StageWrite& write : stage.writes) {
                const Kind kind = kind_of(graph.dtypes.at(write.tensor));
                const ExprId now =
                    assigns ? exact.stored(write.value, kind) : exact.rewrite(write.value);
                count += now != write.value ? 1 : 0;
                write.value = now;
            }
        }
    };
    for (FusionGroup& group : graph.groups) {
        rewrite(group.stages);
        if (auto* const dynamic = std::get_if<DynamicGroup>(&group.kind)) {
            rewrite(dynamic->shape.stages);
        }
    }
    return count;
}

}  // namespace lemma::loop
