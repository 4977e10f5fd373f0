// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/reshape.h"

#include <algorithm>

namespace lemma::loop {

namespace {

class ReshapeComposer {
public:
    explicit ReshapeComposer(StageGraph& graph) : graph_(graph), pool_(graph.pool) {}

    int run() {
        for (size_t i = 0; i < graph_.groups.size(); ++i) {
            const FusionGroup& group = graph_.groups[i];
            if (group.compiled() && group.writes.size() == 1) producers_[group.writes[0]] = i;
        }
        int count = 0;
        for (FusionGroup& group : graph_.groups) count += compose(group) ? 1 : 0;
        return count;
    }

private:
    // An axis in the flat order of elements, with its stride.
    struct Axis {
        VarId var;
        int64_t stride, extent;
    };

    static bool is_one_assignment(const FusionGroup& group) {
        return group.compiled() && group.stages.size() == 1 && is_plain(group.stages[0]);
    }
    // Whether the tensor is a flat copy of another one; `axes` gets the axes, outermost first.
    bool is_flat_copy(const FusionGroup& group, std::vector<Axis>& axes) const {
        if (!is_one_assignment(group) || group.writes.size() != 1) return false;
        const Stage& stage = group.stages[0];
        const StageWrite& write = stage.writes[0];
        if (write.index.size() != 1 || pool_[write.value].op != Op::Read ||
            !covers(stage, graph_)) {
            return false;
        }
        const auto index = pool_.affine(write.index[0]);
        if (!index || index->terms.size() != stage.loops.size()) return false;
        for (const AddressTerm& term : index->terms) {
            axes.push_back({term.var, term.factor, pool_.extent(term.var)});
        }
        std::ranges::sort(axes, std::greater(), &Axis::stride);
        return true;
    }
    bool compose(FusionGroup& group) {
        if (!is_one_assignment(group)) return false;
        const Expr value = pool_[group.stages[0].writes[0].value];
        if (value.op != Op::Read || value.args.size() != 1) return false;
        const auto found = producers_.find(tensor_of(value));
        if (found == producers_.end()) return false;
        const FusionGroup& producer = graph_.groups[found->second];
        std::vector<Axis> axes;
        if (producer.once != group.once || !is_flat_copy(producer, axes)) return false;
        Stage stage = group.stages[0];
        if (!split_loops(stage, axes)) return false;
        const ExprId flat = pool_[stage.writes[0].value].args[0];
        std::unordered_map<VarId, ExprId, IdHash> with;
        for (const Axis& axis : axes) {
            const auto index = index_of(*pool_.affine(flat), axis, axis.var == axes[0].var);
            if (!index) return false;
            with[axis.var] = *index;
        }
        stage.writes[0].value = pool_.substitute(producer.stages[0].writes[0].value, with);
        group.stages[0] = std::move(stage);
        find_reads(graph_, group);
        return true;
    }
    // Splits loops that cross the border of an axis into two.
    bool split_loops(Stage& stage, const std::vector<Axis>& axes) {
        const auto flat = pool_.affine(pool_[stage.writes[0].value].args[0]);
        if (!flat || flat->offset != 0) return false;
        for (const AddressTerm& term : flat->terms) {
            if (term.factor <= 0) return false;
            int64_t extent = pool_.extent(term.var);
            VarId var = term.var;
            for (const Axis& axis : axes) {  // the largest stride first
                if (axis.stride <= term.factor || axis.stride >= term.factor * extent) continue;
                const int64_t inner = axis.stride / term.factor;
                if (axis.stride % term.factor != 0 || extent % inner != 0) return false;
                var = split(stage, var, inner);
                extent = inner;
            }
        }
        return true;
    }
    // Returns the inner variable, which has `inner_extent` steps.
    VarId split(Stage& stage, VarId var, int64_t inner_extent) {
        const int64_t outer_extent = pool_.extent(var) / inner_extent;
        const VarId outer = pool_.new_var(outer_extent);
        const VarId inner = pool_.new_var(inner_extent);
        Builder& build = pool_.build;
        const ExprId both =
            build.make(Op::Add,
                       {build.make(Op::Mul, {build.index(outer), build.integer(inner_extent)}),
                        build.index(inner)});
        const std::unordered_map<VarId, ExprId, IdHash> with = {{var, both}};
        for_each_expr(stage, [&](ExprId& id) { id = pool_.substitute(id, with); });
        const auto at = std::ranges::find(stage.loops, var, &StageLoop::var);
        *at = {inner, inner_extent};
        stage.loops.insert(at, {outer, outer_extent});
        return inner;
    }
    // (flat / stride) % extent, where it is affine.
    std::optional<ExprId> index_of(const Address& flat, const Axis& axis, bool outermost) {
        Builder& build = pool_.build;
        ExprId index = build.integer(0);
        int64_t below = 0;
        int64_t reach = 0;
        for (const AddressTerm& term : flat.terms) {
            const int64_t most = pool_.extent(term.var) - 1;
            if (term.factor % axis.stride != 0) {
                below += term.factor * most;
                continue;
            }
            const int64_t factor = term.factor / axis.stride;
            if (!outermost && factor % axis.extent == 0) continue;
            reach += factor * most;
            index = build.make(
                Op::Add,
                {index, build.make(Op::Mul, {build.index(term.var), build.integer(factor)})});
        }
        if (below >= axis.stride || reach >= axis.extent) return std::nullopt;
        return index;
    }

    StageGraph& graph_;
    StagePool& pool_;
    std::unordered_map<ir::TensorId, size_t, IdHash> producers_;
};

}  // namespace

int compose_reshapes(StageGraph& graph) { return ReshapeComposer(graph).run(); }

}  // namespace lemma::loop
