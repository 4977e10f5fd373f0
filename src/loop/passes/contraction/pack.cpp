// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/pack.h"

namespace lemma::loop {

namespace {

FusionGroup pack_group(StageGraph& graph, FusionGroup& group, const Target& target) {
    Contraction& c = *group.contraction;
    StagePool& pool = graph.pool;
    Builder& build = pool.build;
    Stage stage;
    stage.combine = ir::FormulaOp::Assign;
    std::unordered_map<VarId, ExprId, IdHash> with;
    StageWrite write;
    tensor::Shape shape;
    const auto add = [&](int64_t extent) {
        shape.push_back(extent);
        if (extent == 1) {
            write.index.push_back(build.integer(0));
            return build.integer(0);
        }
        const VarId var = pool.new_var(extent);
        stage.loops.push_back({var, extent});
        write.index.push_back(build.index(var));
        return build.index(var);
    };
    for (const VarId var : c.batch) {
        if (!pool.depends(c.b, var)) continue;
        c.packed_batch.push_back(var);
        with[var] = add(pool.extent(var));
    }
    const ExprId block = add(c.blocks);
    for (const VarId var : c.reduced) with[var] = add(pool.extent(var));
    const int64_t width = c.vectors * target.lanes();
    const ExprId lane = add(width);
    ExprId channel =
        build.make(Op::Add, {build.make(Op::Mul, {block, build.integer(width)}), lane});
    const int64_t extent = pool.extent(c.lane);
    if (c.blocks * width > extent) {
        stage.guards.push_back({channel, extent});
        channel = build.assume(channel, extent);
    }
    with[c.lane] = channel;
    ExprId value = c.b;
    if (group.weight_factor.valid()) value = build.make(Op::Mul, {value, group.weight_factor});
    write.value = pool.substitute(value, with);
    c.packed = graph.new_tensor(tensor::DType::F32, shape);
    write.tensor = c.packed;
    if (c.blocks * width > extent) graph.padded.insert(c.packed);
    stage.writes.push_back(std::move(write));
    FusionGroup made;
    made.op = group.op;
    made.label = group.label + " pack";
    made.once = reads_constants(graph, c.b);
    if (made.once) graph.constants.insert(c.packed);
    made.stages.push_back(std::move(stage));
    made.writes = {c.packed};
    find_reads(graph, made);
    return made;
}

}  // namespace

int pack_weights(StageGraph& graph, const BufferViews& places, const Target& target) {
    int count = 0;
    std::vector<FusionGroup> groups;
    for (FusionGroup& group : graph.groups) {
        if (group.contraction) {
            ++count;
            choose_tile(group.stages[0], graph.pool, places, target, *group.contraction);
        }
        if (group.contraction && !group.contraction->in_place) {
            FusionGroup made = pack_group(graph, group, target);
            group.reads.push_back(made.writes[0]);
            groups.push_back(std::move(made));
        }
        groups.push_back(std::move(group));
    }
    graph.groups = std::move(groups);
    return count;
}

}  // namespace lemma::loop
