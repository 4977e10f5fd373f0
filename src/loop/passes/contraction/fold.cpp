// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/fold.h"

#include <algorithm>

namespace lemma::loop {

namespace {

// total * factor + shift
struct Linear {
    ExprId factor, shift;
};

class ScaleFolder {
public:
    ScaleFolder(StageGraph& graph, FusionGroup& group)
        : graph_(graph), pool_(graph.pool), build_(graph.pool.build), group_(group) {
        const Contraction& c = *group.contraction;
        for (const VarId var : c.batch) {
            if (pool_.depends(c.b, var)) channel_.push_back(var);
        }
        channel_.push_back(c.lane);
    }

    // The group that computes the initial values; it runs before this one.
    std::optional<FusionGroup> run() {
        Stage& stage = group_.stages[0];
        const Contraction& c = *group_.contraction;
        if (!c.product || !reads_constants(graph_, c.b) || !by_channel(stage.initial)) {
            return std::nullopt;
        }
        find(stage.finish);
        if (!part_.valid() || part_ == stage.total || several_ || rounded_) {
            return std::nullopt;
        }
        const Linear linear = *linear_of(part_);
        group_.weight_factor = linear.factor;
        const ExprId start = build_.make(
            Op::Add,
            {build_.make(Op::Mul, {build_.cast(stage.initial, Kind::F32), linear.factor}),
             linear.shift});
        const MadeConstant constant{start, new_constant(graph_, channel_)};
        FusionGroup made = constants_group(graph_, group_, " start", channel_, {constant});
        std::vector<ExprId> index;
        for (const VarId var : channel_) index.push_back(build_.index(var));
        stage.initial = build_.read(constant.tensor.value, Kind::F32, std::move(index));
        stage.finish = pool_.replace(stage.finish, part_, stage.total);
        find_reads(graph_, group_);
        return made;
    }

private:
    // Whether the value is known before the first run and is the same for all points.
    bool by_channel(ExprId id) const {
        bool constant = true;
        pool_.visit_reads(id, [&](ExprId, const Expr& e) {
            constant &= graph_.constants.contains(tensor_of(e));
        });
        std::vector<VarId> others;
        for (const StageLoop& loop : group_.stages[0].loops) {
            if (std::ranges::find(channel_, loop.var) == channel_.end()) others.push_back(loop.var);
        }
        return constant && !pool_.depends_on_any(id, others);
    }
    std::optional<Linear> linear_of(ExprId id) {
        if (id == group_.stages[0].total) {
            return Linear{build_.real(1, Kind::F32), build_.real(0, Kind::F32)};
        }
        const Expr e = pool_[id];
        if (e.type.kind != Kind::F32) return std::nullopt;
        const bool known = e.op == Op::Add || e.op == Op::Sub || e.op == Op::Mul || e.op == Op::Div;
        if (!known) return std::nullopt;
        for (const size_t side : {size_t{0}, size_t{1}}) {
            const ExprId other = e.args[1 - side];
            if (!by_channel(other) || pool_.has_part(other, group_.stages[0].total)) continue;
            const auto inner = linear_of(e.args[side]);
            if (!inner) continue;
            const auto [factor, shift] = *inner;
            const auto op = [&](Op o, ExprId a, ExprId b) { return build_.make(o, {a, b}); };
            switch (e.op) {
                case Op::Add:
                    return Linear{factor, op(Op::Add, shift, other)};
                case Op::Mul:
                    return Linear{op(Op::Mul, factor, other), op(Op::Mul, shift, other)};
                case Op::Sub:
                    if (side == 0) return Linear{factor, op(Op::Sub, shift, other)};
                    return Linear{build_.make(Op::Neg, {factor}), op(Op::Sub, other, shift)};
                default:
                    if (side == 1) return std::nullopt;
                    return Linear{op(Op::Div, factor, other), op(Op::Div, shift, other)};
            }
        }
        return std::nullopt;
    }
    // Finds the largest linear part. several_: there is more than one; rounded_: a cast to int
    // follows.
    void find(ExprId id) {
        if (!id.valid() || !pool_.has_part(id, group_.stages[0].total)) return;
        if (linear_of(id)) {
            several_ |= part_.valid() && part_ != id;
            part_ = id;
            return;
        }
        const Expr e = pool_[id];
        // The last digit of a scale decides how halves round, so a rounded value is computed as
        // written.
        const bool to_int = e.op == Op::Cast && e.type.kind == Kind::Int;
        if (to_int || e.op == Op::Rint || e.op == Op::Round || e.op == Op::Floor ||
            e.op == Op::Ceil || e.op == Op::Trunc) {
            rounded_ = true;
            return;
        }
        for (const ExprId arg : e.args) find(arg);
    }

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    FusionGroup& group_;
    std::vector<VarId> channel_;  // variables of the weights that are not summed
    ExprId part_;
    bool several_ = false;
    bool rounded_ = false;
};

}  // namespace

int fold_scales(StageGraph& graph) {
    return add_before(graph, [&](FusionGroup& group) -> std::optional<FusionGroup> {
        // Bytes and bf16 keep their values.
        const bool suits = group.contraction && !group.contraction->inner.valid() &&
                           group.contraction->kind == Kind::F32 && group.stages[0].finish.valid();
        return suits ? ScaleFolder(graph, group).run() : std::nullopt;
    });
}

}  // namespace lemma::loop
