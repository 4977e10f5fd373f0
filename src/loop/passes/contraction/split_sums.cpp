// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/split_sums.h"

#include <algorithm>

namespace lemma::loop {

namespace {

// The longest summed variable that has so many equal parts.
VarId divided(const StagePool& pool, const Contraction& c, int64_t parts) {
    VarId best;
    for (const VarId var : c.reduced) {
        const bool longer = !best.valid() || pool.extent(var) > pool.extent(best);
        const bool even = var != c.groups || pool.extent(c.inner) % (parts * c.group) == 0;
        if (pool.extent(var) % parts == 0 && even && longer) best = var;
    }
    return best;
}

// The axis of the result along the lanes.
std::optional<size_t> lane_axis(const StagePool& pool, const StageWrite& write, VarId lane) {
    for (size_t axis = 0; axis < write.index.size(); ++axis) {
        if (pool.depends(write.index[axis], lane)) return axis;
    }
    return std::nullopt;
}

}  // namespace

std::optional<FusionGroup> split_sum(RegionGraph& region, FusionGroup& group, int64_t parts) {
    StageGraph& graph = region.graph;
    StagePool& pool = graph.pool;
    Builder& build = pool.build;
    Contraction& c = *group.contraction;
    Stage& stage = group.stages[0];
    const VarId var = divided(pool, c, parts);
    const auto axis = lane_axis(pool, stage.writes[0], c.lane);
    if (!var.valid() || !axis) return std::nullopt;

    tensor::Shape shape = graph.shapes.at(stage.writes[0].tensor);
    shape.insert(shape.begin(), parts);
    const ir::TensorId made = graph.new_tensor(tensor::DType::F32, shape);
    region.layouts.innermost[made] = *axis + 1;

    FusionGroup adding = group;
    adding.contraction.reset();
    adding.weight_factor = {};
    adding.label += " add";
    Stage& sum = adding.stages[0];
    const VarId part = pool.new_var(parts);
    std::erase_if(sum.loops, [&](const StageLoop& loop) {
        return std::ranges::find(c.reduced, loop.var) != c.reduced.end();
    });
    sum.loops.push_back({part, parts});
    std::vector<ExprId> index = sum.writes[0].index;
    index.insert(index.begin(), build.index(part));
    sum.writes[0].value = build.read(made.value, Kind::F32, index);
    find_reads(graph, adding);

    // A variable of parts, and one inside of a part.
    const int64_t steps = pool.extent(var) / parts;
    const VarId number = pool.new_var(parts), step = pool.new_var(steps);
    const ExprId whole = build.make(
        Op::Add,
        {build.make(Op::Mul, {build.index(number), build.integer(steps)}), build.index(step)});
    const auto renamed = [&](ExprId id) { return pool.substitute(id, {{var, whole}}); };
    stage.writes[0].value = renamed(stage.writes[0].value);
    stage.writes[0].index.insert(stage.writes[0].index.begin(), build.index(number));
    stage.writes[0].tensor = made;
    stage.initial = build.real(0, Kind::F32);
    stage.finish = {};
    stage.total = {};
    for (StageLoop& loop : stage.loops) {
        if (loop.var == var) loop = {step, steps};
    }
    std::erase_if(stage.loops, [](const StageLoop& loop) { return loop.extent == 1; });
    stage.loops.insert(stage.loops.begin(), {number, parts});
    c.a = renamed(c.a);
    c.b = renamed(c.b);
    if (var == c.groups) {
        // B has the variable of elements, not that of groups.
        const VarId element = pool.new_var(steps * c.group);
        const ExprId first =
            build.make(Op::Mul, {build.index(number), build.integer(steps * c.group)});
        const ExprId at = build.make(Op::Add, {first, build.index(element)});
        c.b = pool.substitute(c.b, {{c.inner, at}});
        c.inner = element;
        c.groups = step;
    }
    if (group.weight_factor.valid()) group.weight_factor = renamed(group.weight_factor);
    std::ranges::replace(c.reduced, var, step);
    if (c.inner == var) c.inner = step;
    c.batch.push_back(number);
    group.label += " parts";
    group.writes = {made};
    find_reads(graph, group);
    return adding;
}

}  // namespace lemma::loop
