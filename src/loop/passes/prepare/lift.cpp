// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/lift.h"

#include "loop/passes/contraction/contract.h"
#include "loop/passes/memory/boundary.h"

namespace lemma::loop {

namespace {

constexpr int64_t kMostElements = int64_t{1} << 24;  // results of all iterations

// The items of a loop as one tensor, with the iterations as its first axis.
ir::TensorId whole_of(RegionGraph& region, ir::TensorId item, int64_t count) {
    const auto found = region.wholes.find(item);
    if (found != region.wholes.end()) return found->second;
    const StoragePack& pack = region.packs.at(item);
    tensor::Shape shape = region.graph.shapes.at(item);
    Layout layout = row_major(shape);
    layout.strides.insert(layout.strides.begin(), pack.stride);
    shape.insert(shape.begin(), count);
    const tensor::DType dtype = region.graph.dtypes.at(item);
    const ir::TensorId whole = region.graph.new_tensor(dtype, shape);
    region.places[whole] = {pack.first, dtype, std::move(shape), std::move(layout)};
    region.wholes[item] = whole;
    return whole;
}

// The number of iterations that one sum can compute together; 0: the sum cannot be lifted.
int64_t liftable_steps(const RegionGraph& region, const FusionGroup& group) {
    const StageGraph& graph = region.graph;
    const bool one = group.compiled() && !group.once && group.stages.size() == 1 &&
                     group.writes.size() == 1 && !graph.results.contains(group.writes[0]);
    if (!one || group.stages[0].combine != ir::FormulaOp::Sum) return 0;
    bool items = false;
    for (const ir::TensorId id : group.reads) {
        if (region.packs.contains(id)) {
            items = true;
            continue;
        }
        const bool outside = region.outer.contains(id) && !region.changing.contains(id);
        if (!outside && !region.constants.contains(id)) return 0;
    }
    if (!items) return 0;
    const int64_t elements = tensor::volume(graph.shapes.at(group.writes[0])).value_or(0);
    const int64_t count = region.steps;
    return count > 1 && elements > 0 && elements <= kMostElements / count ? count : 0;
}

Stage lifted_stage(RegionGraph& region, const FusionGroup& group, int64_t count) {
    StagePool& pool = region.graph.pool;
    Stage stage = group.stages[0];
    const VarId var = pool.new_var(count);
    const ExprId step = pool.build.index(var);
    const auto rewrite = [&](ExprId& value) {
        std::vector<std::pair<ExprId, Expr>> reads;
        pool.visit_reads(value, [&](ExprId at, const Expr& e) {
            if (region.packs.contains(tensor_of(e))) reads.emplace_back(at, e);
        });
        for (const auto& [at, e] : reads) {
            std::vector<ExprId> index = e.args;
            index.insert(index.begin(), step);
            const ir::TensorId whole = whole_of(region, tensor_of(e), count);
            value = pool.replace(
                value, at, pool.build.read(whole.value, e.type.kind, std::move(index)));
        }
    };
    for_each_value(stage, rewrite);
    stage.writes[0].index.insert(stage.writes[0].index.begin(), step);
    stage.loops.insert(stage.loops.begin(), {var, count});
    return stage;
}

}  // namespace

int lift_sums(RegionGraph& region) {
    if (region.kind != RegionKind::Loop) return 0;
    find_outer(region);
    StageGraph& graph = region.graph;
    const size_t before = region.made_items.size();
    for (FusionGroup& group : graph.groups) {
        const int64_t count = liftable_steps(region, group);
        if (count == 0) continue;
        Stage stage = lifted_stage(region, group, count);
        const ir::TensorId item = group.writes[0];
        tensor::Shape shape = graph.shapes.at(item);
        shape.insert(shape.begin(), count);
        const ir::TensorId all = graph.new_tensor(graph.dtypes.at(item), std::move(shape));
        stage.writes[0].tensor = all;
        // Only tiled sums: none of their indices needs a check.
        if (!find_contraction(graph, stage)) continue;
        group.stages[0] = std::move(stage);
        group.writes = {all};
        find_reads(graph, group);
        graph.results.insert(all);
        region.fixed.insert({all, item});
        region.changing.insert(item);
        region.made_items.emplace_back(item, all);
    }
    find_outer(region);
    region.fixed.insert(region.outer.begin(), region.outer.end());
    return static_cast<int>(region.made_items.size() - before);
}

}  // namespace lemma::loop
