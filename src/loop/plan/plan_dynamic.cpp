// SPDX-License-Identifier: Apache-2.0
// Operations with run-time extents: each is planned by itself.
#include <algorithm>

#include "loop/passes/prepare/widen.h"
#include "loop/plan/plan_impl.h"

namespace lemma::loop {

namespace {

constexpr const char* kWhy = "an extent that only the run tells";

// Whether the first stage that uses the tensor expects zeros in it.
bool needs_zeros(const DynamicShape& run_time,
                 StagePool& pool,
                 const Shapes& shapes,
                 ir::TensorId id) {
    for (const Stage& stage : run_time.stages) {
        const auto used = tensors_of({stage}, pool);
        if (std::ranges::find(used, id) == used.end()) continue;
        return !assigns_all(stage, pool, run_time, shapes) && !stage.initial.valid();
    }
    return true;
}

}  // namespace

void Planner::add_dynamic(Scope& scope, ir::OpId id, std::string why) {
    StageGraph& graph = scope.graph;
    const ir::Operation& op = program_.operations[id];
    DynamicShape run_time;
    run_time.told = graph.new_tensor(tensor::DType::I64, {});
    for (const ir::Formula& formula : op.formulas) {
        auto stage = make_stage(program_, formula, known_, graph.shapes, graph.pool, &run_time);
        if (!stage) return add_interpreted(scope, id, stage.error().message);
        run_time.stages.push_back(std::move(*stage));
    }
    merge_starts(run_time, graph.pool, graph.shapes);
    for (const auto& [tensor, extents] : run_time.extents) {
        for (const ExprId extent : extents) {
            const Expr& e = graph.pool[extent];
            const bool absurd = e.op == Op::Constant && (e.integer < 0 || e.integer > kMostExtent);
            if (absurd) return add_interpreted(scope, id, kWhy);
        }
    }
    const bool told = !run_time.numbers.empty() || !run_time.extents.empty();
    if (!told || run_time.stages.empty()) {
        return add_interpreted(scope, id, why.empty() ? kWhy : std::move(why));
    }
    FusionGroup alone;
    alone.stages = run_time.stages;
    if (!rounded_between(graph, alone).empty()) {
        return add_interpreted(scope, id, "a result in several formulas, which is rounded once");
    }
    graph.shapes[run_time.told] = {static_cast<int64_t>(run_time.numbers.size()) + 1};
    add_opaque(scope, id, DynamicGroup{std::move(run_time), compounds_});
}

// Whether one of them depends on run-time values.
bool Planner::is_open(const std::vector<ir::Assertion>& assertions) const {
    return std::ranges::any_of(assertions, [&](const ir::Assertion& assertion) {
        const auto symbols = program_.symbols.symbols_of(assertion.condition);
        return std::ranges::any_of(symbols, [&](ir::SymId id) { return !known_.contains(id); });
    });
}

StorageId Planner::place_any(Scope& scope, ir::TensorId id) {
    if (scope.graph.shapes.contains(id)) return place(scope, id);
    const auto found = plan_.dynamic_places.find(id);
    if (found != plan_.dynamic_places.end()) return found->second.storage;
    Storage storage;
    storage.dtype = program_.tensors[id].dtype;
    storage.tensor = id;
    storage.moves = true;
    const StorageId at = plan_.storages.add(storage);
    plan_.dynamic_places[id] = {at, storage.dtype};
    return at;
}

void Planner::place_dynamic(Scope& scope, const FusionGroup& group, const DynamicGroup& kind) {
    for (const ir::TensorId id : tensors_of(kind.shape.stages, scope.graph.pool)) {
        place_any(scope, id);
    }
    place(scope, kind.shape.told);
    for (const ir::TensorId id : group.writes) {
        place_any(scope, id);
        const auto at = plan_.dynamic_places.find(id);
        if (at != plan_.dynamic_places.end()) at->second.computed = true;
    }
}

void Planner::add_dynamic_steps(Scope& scope,
                                Region& region,
                                const FusionGroup& group,
                                const DynamicGroup& kind) {
    const DynamicShape& run_time = kind.shape;
    BufferViews places;
    DynamicKernel dynamic;
    dynamic.within = kind.within;
    dynamic.told = plan_.places.at(run_time.told).storage;
    dynamic.numbers = run_time.numbers;
    dynamic.inlined = run_time.inlined;
    places[run_time.told] = plan_.places.at(run_time.told);
    for (const ir::TensorId id : tensors_of(run_time.stages, scope.graph.pool)) {
        const auto at = plan_.dynamic_places.find(id);
        if (at == plan_.dynamic_places.end()) {
            places[id] = plan_.places.at(id);
            continue;
        }
        const auto room = run_time.rooms.find(id);
        places[id] = {at->second.storage,
                      at->second.dtype,
                      {},
                      {},
                      run_time.extents.at(id),
                      room != run_time.rooms.end() ? room->second : std::vector<ExprId>()};
        const bool made = std::ranges::find(group.writes, id) != group.writes.end();
        if (!made) dynamic.read.push_back(id);
    }
    for (const ir::TensorId id : group.writes) {
        const bool zeros = needs_zeros(run_time, scope.graph.pool, scope.graph.shapes, id);
        if (zeros) dynamic.cleared.push_back(id);
    }
    for (const Stage& stage : run_time.stages) {
        dynamic.kernel = schedule_nest(stage, scope.graph.pool, places, options_.target, &run_time);
        add_step(scope, region, group, {.kind = dynamic});
        dynamic.first = false;
    }
}

}  // namespace lemma::loop
