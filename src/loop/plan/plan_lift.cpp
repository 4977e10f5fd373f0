// Sums in the body of a loop over what only the items and things outside tell, as the products of
// a recurrent layer's inputs: those of all iterations are one sum before the loop, which uses each
// weight many times, and its results are items of the loop.
#include <algorithm>

#include "loop/plan/plan_impl.h"

namespace lemma::loop {

namespace {

constexpr int64_t kMostElements = int64_t{1} << 24;  // of the results of all iterations

}  // namespace

// The items of a loop as one tensor with the iterations as its first axis.
ir::TensorId Planner::whole_of(Scope& scope, ir::TensorId item, int64_t count) {
    const auto found = scope.wholes.find(item);
    if (found != scope.wholes.end()) return found->second;
    const PlanPack& pack = scope.packs.at(item);
    tensor::Shape shape = scope.graph.shapes.at(item);
    Layout layout = row_major(shape);
    layout.strides.insert(layout.strides.begin(), pack.stride);
    shape.insert(shape.begin(), count);
    const tensor::DType dtype = scope.graph.dtypes.at(item);
    const ir::TensorId whole = scope.graph.new_tensor(dtype, shape);
    plan_.places[whole] = {pack.first, dtype, std::move(shape), std::move(layout)};
    scope.wholes[item] = whole;
    return whole;
}

// How many iterations the sum can be made of at once; 0: it cannot.
int64_t Planner::liftable_steps(const Scope& scope, const FusionGroup& unit) const {
    const StageGraph& graph = scope.graph;
    const bool one = !unit.interpreted && !unit.once && unit.stages.size() == 1 &&
                     unit.writes.size() == 1 && !graph.results.contains(unit.writes[0]);
    if (!one || unit.stages[0].combine != ir::FormulaOp::Sum) return 0;
    bool items = false;
    for (const ir::TensorId id : unit.reads) {
        if (scope.packs.contains(id)) {
            items = true;
            continue;
        }
        const bool outside = scope.outer.contains(id) && !scope.changing.contains(id);
        if (!outside && !constants_.contains(id)) return 0;
    }
    if (!items) return 0;
    const int64_t elements = tensor::volume(graph.shapes.at(unit.writes[0])).value_or(0);
    const int64_t count = scope.steps;
    return count > 1 && elements > 0 && elements <= kMostElements / count ? count : 0;
}

Stage Planner::lifted_stage(Scope& scope, const FusionGroup& unit, int64_t count) {
    StagePool& pool = scope.graph.pool;
    Stage stage = unit.stages[0];
    const VarId var = pool.new_var(count);
    const ExprId step = pool.build.index(var);
    const auto rewrite = [&](ExprId& value) {
        if (!value.valid()) return;
        std::vector<std::pair<ExprId, Expr>> reads;
        pool.visit_reads(value, [&](ExprId at, const Expr& e) {
            if (scope.packs.contains(tensor_of(e))) reads.emplace_back(at, e);
        });
        for (const auto& [at, e] : reads) {
            std::vector<ExprId> index = e.args;
            index.insert(index.begin(), step);
            const ir::TensorId whole = whole_of(scope, tensor_of(e), count);
            value = pool.replace(
                value, at, pool.build.read(whole.value, e.type.kind, std::move(index)));
        }
    };
    rewrite(stage.writes[0].value);
    rewrite(stage.initial);
    stage.writes[0].index.insert(stage.writes[0].index.begin(), step);
    stage.loops.insert(stage.loops.begin(), {var, count});
    return stage;
}

void Planner::lift_sums(Scope& scope) {
    StageGraph& graph = scope.graph;
    for (FusionGroup& unit : graph.units) {
        const int64_t count = liftable_steps(scope, unit);
        if (count == 0) continue;
        Stage stage = lifted_stage(scope, unit, count);
        // Only sums that are tiled: no index of theirs needs to be checked.
        if (!find_contraction(graph, stage)) continue;
        const ir::TensorId item = unit.writes[0];
        tensor::Shape shape = graph.shapes.at(item);
        shape.insert(shape.begin(), count);
        const ir::TensorId all = graph.new_tensor(graph.dtypes.at(item), std::move(shape));
        stage.writes[0].tensor = all;
        unit.stages[0] = std::move(stage);
        unit.writes = {all};
        find_reads(graph, unit);
        graph.results.insert(all);
        scope.fixed.insert({all, item});
        scope.changing.insert(item);
        scope.made_items.emplace_back(item, all);
    }
    find_outer(scope);
    scope.fixed.insert(scope.outer.begin(), scope.outer.end());
}

// They are read as the loop's own items are.
void Planner::add_made_items(Scope& scope, const Scope& body, PlanLoop& loop) {
    for (const auto& [item, all] : body.made_items) {
        const PlanPack pack{place(scope, all), elements_of(scope, item), body.steps};
        const StorageId seen = place(scope, item);
        make_moving(seen, {pack.first});
        loop.items.push_back({seen, pack});
    }
}

}  // namespace lemma::loop
