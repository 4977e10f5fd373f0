// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/quantised/identities.h"

#include <cmath>

namespace lemma::loop {

namespace {

class Identities {
public:
    Identities(StageGraph& graph, const Stage& stage)
        : graph_(graph), pool_(graph.pool), build_(graph.pool.build) {
        // The largest of bytes is a byte; without any, it is an infinity.
        const bool extreme =
            stage.combine == ir::FormulaOp::Max || stage.combine == ir::FormulaOp::Min;
        if (extreme && stage.total.valid() && is_byte(stage.writes[0].value)) total_ = stage.total;
    }

    ExprId rewrite(ExprId id) {
        if (!id.valid()) return id;
        if (const auto found = done_.find(id); found != done_.end()) return found->second;
        const Expr e = pool_[id];  // the pool may grow
        ExprId result = id;
        for (const ExprId arg : e.args) {
            const ExprId now = rewrite(arg);
            if (now != arg) result = pool_.replace(result, arg, now);
        }
        result = copied(result);
        done_[id] = result;
        return result;
    }

private:
    struct Limits {
        double low, high;
        friend bool operator==(const Limits&, const Limits&) = default;
    };
    // x and c, if the value is `op` of x and a literal c.
    std::optional<std::pair<ExprId, double>> with_number(ExprId value, Op op) const {
        const Expr& e = pool_[value];
        if (e.op != op || e.type.kind != Kind::F32) return std::nullopt;
        const Expr& number = pool_[e.args[1]];
        if (number.op != Op::Constant) return std::nullopt;
        return std::pair(e.args[0], number.real);
    }
    // The limits of int(min(max(x, low), high)), and x.
    std::optional<std::pair<ExprId, Limits>> limited(ExprId value) const {
        const Expr& cast = pool_[value];
        if (cast.op != Op::Cast || cast.type.kind != Kind::Int) return std::nullopt;
        const auto upper = with_number(cast.args[0], Op::Min);
        const auto lower = upper ? with_number(upper->first, Op::Max) : std::nullopt;
        if (!lower) return std::nullopt;
        return std::pair(lower->first, Limits{lower->second, upper->second});
    }
    // The range of an int: an element of a tensor of bytes, or a number with limits.
    std::optional<Limits> range_of(ExprId value) const {
        const Expr& e = pool_[value];
        if (e.op == Op::Read) {
            const tensor::DType dtype = graph_.dtypes.at(tensor_of(e));
            if (dtype == tensor::DType::U8) return Limits{0, 255};
            if (dtype == tensor::DType::I8) return Limits{-128, 127};
            return std::nullopt;
        }
        const auto found = limited(value);
        return found ? std::optional(found->second) : std::nullopt;
    }
    // Whether the float is a byte.
    bool is_byte(ExprId value) const {
        const Expr& e = pool_[value];
        return e.op == Op::Cast && e.type.kind == Kind::F32 &&
               pool_[e.args[0]].type.kind == Kind::Int && range_of(e.args[0]).has_value();
    }
    // int(min(max(rint((f32(q) - z) * s / s) + z, low), high)) is q, if the limits have room for
    // it. The product and the quotient are off by less than a step.
    ExprId copied(ExprId value) {
        const auto outer = limited(value);
        if (!outer) return value;
        const auto moved = with_number(outer->first, Op::Add).value_or(std::pair(outer->first, 0.));
        const Expr& rint = pool_[moved.first];
        if (rint.op != Op::Rint || rint.type.kind != Kind::F32) return value;
        const auto quotient = with_number(rint.args[0], Op::Div);
        const auto product = quotient ? with_number(quotient->first, Op::Mul) : std::nullopt;
        const double scale = product ? std::fabs(product->second) : 0;
        const bool same = product && product->second == quotient->second && scale < 1e30 &&
                          scale > 1e-30 && std::fabs(moved.second) <= 255;
        if (!same) return value;
        const auto back =
            with_number(product->first, Op::Sub).value_or(std::pair(product->first, 0.));
        if (back.second != moved.second) return value;
        if (back.first == total_) {
            const ExprId low =
                build_.make(Op::Max, {total_, build_.real(outer->second.low, Kind::F32)});
            const ExprId high = build_.real(outer->second.high, Kind::F32);
            return build_.cast(build_.make(Op::Min, {low, high}), Kind::Int);
        }
        if (!is_byte(back.first)) return value;
        const ExprId byte = pool_[back.first].args[0];
        const Limits range = *range_of(byte);
        const bool room = outer->second.low <= range.low && range.high <= outer->second.high;
        return room ? byte : value;
    }

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    ExprId total_;  // that is a byte; may be missing
    std::unordered_map<ExprId, ExprId, IdHash> done_;
};

}  // namespace

int find_identities(StageGraph& graph) {
    int count = 0;
    for (FusionGroup& group : graph.groups) {
        if (!group.compiled()) continue;
        bool changed = false;
        for (Stage& stage : group.stages) {
            Identities identities(graph, stage);
            const auto rewrite = [&](ExprId& value) {
                const ExprId now = identities.rewrite(value);
                changed |= now != value;
                count += now != value ? 1 : 0;
                value = now;
            };
            for (StageWrite& write : stage.writes) rewrite(write.value);
            if (stage.finish.valid()) rewrite(stage.finish);
        }
        if (changed) find_reads(graph, group);
    }
    return count;
}

}  // namespace lemma::loop
