// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/block_lanes.h"

#include <algorithm>

namespace lemma::loop {

namespace {

class LaneBlocks {
public:
    LaneBlocks(StageGraph& graph, const TensorSet& fixed)
        : graph_(graph), pool_(graph.pool), build_(pool_.build), fixed_(fixed) {}

    int run() {
        count_uses();
        int count = 0;
        std::vector<FusionGroup> groups;
        for (FusionGroup& group : graph_.groups) {
            const auto axis = axis_of(group);
            if (!axis) {
                groups.push_back(std::move(group));
                continue;
            }
            ++count;
            const ir::TensorId from = tensor_of(pool_[group.contraction->a]);
            const ir::TensorId to = group.writes[0];
            const ir::TensorId operand = blocked(from, *axis);
            groups.push_back(copy(group, {from, operand, *axis, true}));
            split_lanes(group, operand, *axis);
            const auto result = result_axis(group);
            if (result) write_blocks(group, *result);
            groups.push_back(std::move(group));
            if (result) {
                groups.push_back(
                    copy(groups.back(), {groups.back().writes[0], to, *result, false}));
            }
        }
        graph_.groups = std::move(groups);
        return count;
    }

private:
    void count_uses() {
        for (const FusionGroup& group : graph_.groups) {
            for (const ir::TensorId id : group.writes) ++writers_[id];
            if (group.contraction) ++readers_[tensor_of(pool_[group.contraction->surrounded()])];
        }
    }
    bool is_var(ExprId index, VarId var) const {
        const Expr& e = pool_[index];
        return e.op == Op::Var && e.integer == static_cast<int64_t>(var.value);
    }
    // The axis whose index is the variable, if no other index depends on it.
    std::optional<size_t> axis_of(const std::vector<ExprId>& index, VarId var) const {
        std::optional<size_t> found;
        for (size_t axis = 0; axis < index.size(); ++axis) {
            if (!pool_.depends(index[axis], var)) continue;
            if (found || !is_var(index[axis], var)) return std::nullopt;
            found = axis;
        }
        return found;
    }
    // The axis of the operand to cut into blocks.
    std::optional<size_t> axis_of(const FusionGroup& group) const {
        if (!group.contraction || group.once || group.writes.size() != 1) return std::nullopt;
        const Contraction& c = *group.contraction;
        const bool plain = c.product && c.lane_in_a && !c.in_place && !c.window && !c.terms &&
                           c.kind == Kind::F32 && !c.inner.valid() && !c.squares.valid();
        if (graph_.device || !plain) return std::nullopt;
        const ir::TensorId from = tensor_of(pool_[c.a]);
        const int64_t extent = pool_.extent(c.lane);
        if (!fixed_.contains(from) || readers_.at(from) != 1 ||
            graph_.dtypes.at(from) != tensor::DType::F32 || extent % graph_.lanes != 0 ||
            extent == graph_.lanes) {
            return std::nullopt;
        }
        // Innermost already.
        const auto axis = axis_of(pool_[c.a].args, c.lane);
        if (!axis || *axis + 1 == pool_[c.a].args.size()) return std::nullopt;
        return axis;
    }
    ir::TensorId blocked(ir::TensorId id, size_t axis) {
        tensor::Shape shape = graph_.shapes.at(id);
        shape[axis] /= graph_.lanes;
        shape.push_back(graph_.lanes);
        return graph_.new_tensor(graph_.dtypes.at(id), std::move(shape));
    }
    ExprId whole(ExprId block, ExprId lane) {
        return build_.make(Op::Add,
                           {build_.make(Op::Mul, {block, build_.integer(graph_.lanes)}), lane});
    }

    struct Copy {
        ir::TensorId from, to;
        size_t axis;
        bool into;  // into blocks, or out of them
    };
    FusionGroup copy(const FusionGroup& group, const Copy& copy) {
        FusionGroup made;
        made.op = group.op;
        made.label = group.label + " copy";
        Stage stage = assign_all(graph_, copy.into ? copy.to : copy.from);
        StageWrite& write = stage.writes[0];
        const std::vector<ExprId> blocks = write.index;
        std::vector<ExprId> plain = blocks;
        plain[copy.axis] = whole(blocks[copy.axis], blocks.back());
        plain.pop_back();
        write.tensor = copy.to;
        write.index = copy.into ? blocks : plain;
        write.value = build_.read(copy.from.value, Kind::F32, copy.into ? plain : blocks);
        made.stages.push_back(std::move(stage));
        made.writes = {copy.to};
        find_reads(graph_, made);
        return made;
    }

    // The lane variable as block and lane.
    void split_lanes(FusionGroup& group, ir::TensorId operand, size_t axis) {
        Contraction& c = *group.contraction;
        Stage& stage = group.stages[0];
        const VarId block = pool_.new_var(pool_.extent(c.lane) / graph_.lanes);
        const VarId lane = pool_.new_var(graph_.lanes);
        std::vector<ExprId> index = pool_[c.a].args;
        index[axis] = build_.index(block);
        index.push_back(build_.index(lane));
        const ExprId a = build_.read(operand.value, pool_[c.a].type.kind, std::move(index));
        stage.writes[0].value = pool_.replace(stage.writes[0].value, c.a, a);
        c.a = a;
        const std::unordered_map<VarId, ExprId, IdHash> with = {
            {c.lane, whole(build_.index(block), build_.index(lane))}};
        for_each_expr(stage, [&](ExprId& id) { id = pool_.substitute(id, with); });
        c.b = pool_.substitute(c.b, with);
        if (group.weight_factor.valid()) {
            group.weight_factor = pool_.substitute(group.weight_factor, with);
        }
        const auto loop = std::ranges::find(stage.loops, c.lane, &StageLoop::var);
        *loop = {block, pool_.extent(block)};
        stage.loops.insert(loop + 1, {lane, graph_.lanes});
        c.batch.push_back(block);
        c.lane = lane;
        find_reads(graph_, group);
    }

    // The axis of the result along the blocks, if nobody else writes it and its layout is fixed.
    std::optional<size_t> result_axis(const FusionGroup& group) const {
        const StageWrite& write = group.stages[0].writes[0];
        if (!fixed_.contains(write.tensor) || writers_.at(write.tensor) != 1) return std::nullopt;
        if (graph_.dtypes.at(write.tensor) != tensor::DType::F32) return std::nullopt;
        const tensor::Shape& shape = graph_.shapes.at(write.tensor);
        const VarId block = group.contraction->batch.back();
        std::optional<size_t> found;
        for (size_t axis = 0; axis < write.index.size(); ++axis) {
            if (!pool_.depends(write.index[axis], block)) continue;
            if (found || shape[axis] != pool_.extent(block) * graph_.lanes) return std::nullopt;
            found = axis;
        }
        return found;
    }
    void write_blocks(FusionGroup& group, size_t axis) {
        const Contraction& c = *group.contraction;
        StageWrite& write = group.stages[0].writes[0];
        write.tensor = blocked(write.tensor, axis);
        write.index[axis] = build_.index(c.batch.back());
        write.index.push_back(build_.index(c.lane));
        group.writes = {write.tensor};
    }

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    const TensorSet& fixed_;
    std::unordered_map<ir::TensorId, int, IdHash> writers_, readers_;
};

}  // namespace

int block_lanes(StageGraph& graph, const TensorSet& fixed) {
    return LaneBlocks(graph, fixed).run();
}

}  // namespace lemma::loop
