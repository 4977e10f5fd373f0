// SPDX-License-Identifier: Apache-2.0
#include "loop/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/match.h"
#include "ir/verify/verify.h"
#include "loop/passes/graph_text.h"
#include "loop/passes/memory/when.h"
#include "loop/passes/prepare/init.h"
#include "loop/passes/prepare/scatter.h"
#include "loop/passes/prepare/widen.h"
#include "loop/passes/verify.h"
#include "loop/plan/plan_impl.h"
#include "loop/plan/plan_text.h"
#include "tensor/room.h"

namespace lemma::loop {

// ---- Shapes and constants -----------------------------------------------------------------------

// Whether the tensor is a constant with run-time elements.
bool Planner::has_open_items(const ir::Tensor& tensor) const {
    if (tensor.role != ir::TensorRole::Constant) return false;
    return std::ranges::any_of(tensor.items, [&](const ir::Scalar& item) {
        const auto* const symbol = std::get_if<ir::SymId>(&item);
        if (!symbol) return false;
        const auto symbols = program_.symbols.symbols_of(*symbol);
        return std::ranges::any_of(symbols, [&](ir::SymId id) { return !known_.contains(id); });
    });
}

void Planner::find_shapes() {
    next_tensor_ = static_cast<uint32_t>(program_.tensors.size());
    for (uint32_t i = 0; i < program_.tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        const ir::Tensor& tensor = program_.tensors[id];
        dtypes_[id] = tensor.dtype;
        if (has_open_items(tensor)) continue;
        tensor::Shape shape;
        for (const ir::SymId part : tensor.shape) {
            const auto extent = evaluate(program_.symbols, part, known_);
            if (!extent || *extent < 0) break;
            shape.push_back(*extent);
        }
        const bool known = shape.size() == tensor.shape.size();
        if (known && tensor::bounded_volume(shape)) shapes_[id] = std::move(shape);
    }
}

void Planner::find_constants() {
    TensorSet changed;
    for (const ir::Update& update : program_.updates) changed.insert(update.variable);
    for (uint32_t i = 0; i < program_.tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        const ir::TensorRole role = program_.tensors[id].role;
        const bool constant = (role == ir::TensorRole::Constant && shapes_.contains(id)) ||
                              (role == ir::TensorRole::Variable && !changed.contains(id));
        if (constant) constants_.insert(id);
    }
}

// ---- Units --------------------------------------------------------------------------------------

// A group that is opaque to passes.
void Planner::add_opaque(Scope& scope, ir::OpId id, decltype(FusionGroup::kind) kind) {
    FusionGroup group;
    group.op = id;
    group.label = program_.operations[id].label;
    group.kind = std::move(kind);
    group.reads = used_tensors(program_, id);
    for (const ir::Port& port : program_.operations[id].outputs) {
        for (const ir::TensorId output : port.operand.items) group.writes.push_back(output);
    }
    scope.graph.groups.push_back(std::move(group));
}

void Planner::add_interpreted(Scope& scope, ir::OpId id, std::string why) {
    add_opaque(scope, id, InterpretedGroup{std::move(why), compounds_});
}

void Planner::add_primitive(Scope& scope, ir::OpId id) {
    StageGraph& graph = scope.graph;
    const ir::Operation& op = program_.operations[id];
    FusionGroup group;
    group.op = id;
    group.label = op.label;
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId output : port.operand.items) {
            if (!graph.shapes.contains(output)) return add_dynamic(scope, id, {});
        }
    }
    for (const ir::Formula& formula : op.formulas) {
        auto stage = make_stage(program_, formula, known_, graph.shapes, graph.pool);
        if (!stage) return add_dynamic(scope, id, std::move(stage.error().message));
        if (options_.fuse) invert_scatter(graph, *stage);
        group.stages.push_back(std::move(*stage));
    }
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId output : port.operand.items) group.writes.push_back(output);
    }
    graph.groups.push_back(std::move(group));
    merge_init(graph, graph.groups.back());
    widen_results(graph, graph.groups.back());
}

// The interpreter and kernels with run-time extents check their assertions themselves.
void Planner::add_check(Scope& scope, ir::OpId id) {
    std::vector<FusionGroup>& groups = scope.graph.groups;
    const bool itself = !groups.empty() && groups.back().op == id && !groups.back().compiled() &&
                        !groups.back().control();
    if (itself) return;
    FusionGroup group;
    group.op = id;
    group.label = program_.operations[id].label;
    group.kind = CheckGroup{};
    groups.push_back(std::move(group));
}

void Planner::add_operation(Scope& scope, ir::OpId id) {
    const ir::Operation& op = program_.operations[id];
    const bool open = is_open(op.assertions);
    switch (op.kind) {
        case ir::OperationKind::Compound:
            if (open) compounds_.push_back(id);
            for (const ir::OpId part : op.parts) add_operation(scope, part);
            if (open) compounds_.pop_back();
            break;
        case ir::OperationKind::Primitive:
            add_primitive(scope, id);
            break;
        case ir::OperationKind::Intrinsic:
            add_interpreted(scope, id, "it has no formula");
            break;
        case ir::OperationKind::Control:
            add_control(scope, id);
            break;
    }
    if (open) add_check(scope, id);
}

// ---- Memory -------------------------------------------------------------------------------------

StorageRole Planner::role_of(const Scope& scope, ir::TensorId id) const {
    if (id.value >= program_.tensors.size()) {
        return scope.graph.constants.contains(id) ? StorageRole::Constant : StorageRole::Computed;
    }
    if (constants_.contains(id)) return StorageRole::Constant;
    switch (program_.tensors[id].role) {
        case ir::TensorRole::Input:
            return StorageRole::Given;
        case ir::TensorRole::Variable:
            return StorageRole::Kept;
        default:
            return StorageRole::Computed;
    }
}

StorageId Planner::place(Scope& scope, ir::TensorId id) {
    if (const auto found = plan_.places.find(id); found != plan_.places.end()) {
        return found->second.storage;
    }
    if (const auto part = scope.inside.find(id); part != scope.inside.end()) {
        const auto& [whole, begin] = part->second;
        const StorageId at = place(scope, whole);
        BufferView here = plan_.places.at(whole);
        here.shape = scope.graph.shapes.at(id);
        for (size_t axis = 0; axis < begin.size(); ++axis) {
            here.layout.offset += begin[axis] * here.layout.strides[axis];
        }
        plan_.places[id] = std::move(here);
        return at;
    }
    if (const auto operand = scope.in_place.find(id); operand != scope.in_place.end()) {
        const StorageId at = place(scope, operand->second);
        const BufferView here = plan_.places.at(operand->second);
        plan_.places[id] = here;
        return at;
    }
    Storage storage;
    storage.role = role_of(scope, id);
    storage.dtype = scope.graph.dtypes.at(id);
    Layout layout = layout_of(scope, id, storage.elements);
    storage.scratch = scope.graph.scratch.contains(id);
    storage.needs_zeros = scope.layouts.halos.contains(id) || scope.graph.padded.contains(id);
    if (id.value < program_.tensors.size()) storage.tensor = id;
    if (const auto parent = scope.parents.find(id); parent != scope.parents.end()) {
        storage.base = place(scope, parent->second.first);
        storage.begin = parent->second.second;
    }
    const StorageId at = plan_.storages.add(storage);
    BufferView& view = plan_.places[id];
    view = {at, storage.dtype, scope.graph.shapes.at(id), std::move(layout)};
    view.align = alignment(scope, id, storage);
    return at;
}

// Items of a loop may lie anywhere.
int64_t Planner::alignment(const Scope& scope, ir::TensorId id, const Storage& storage) const {
    constexpr int64_t kAlign = 64;  // bytes, of all memory
    if (scope.kind != RegionKind::Main) return 1;
    const auto parent = scope.parents.find(id);
    if (parent == scope.parents.end()) return kAlign / tensor::dtype_size(storage.dtype);
    return std::gcd(plan_.places.at(parent->second.first).align, storage.begin);
}

// Tensors of compiled stages have memory; the others exist in the interpreter alone.
void Planner::place_groups(Scope& scope) {
    for (const FusionGroup& group : scope.graph.groups) {
        if (const auto* const dynamic = std::get_if<DynamicGroup>(&group.kind)) {
            place_dynamic(scope, group, *dynamic);
        }
        if (!group.compiled()) continue;
        for (const ir::TensorId id : group.reads) place(scope, id);
        for (const ir::TensorId id : group.writes) place(scope, id);
    }
    for (const auto& [id, parent] : scope.parents) place(scope, id);
}

// ---- Steps --------------------------------------------------------------------------------------

void Planner::add_step(Scope& scope, Region& region, const FusionGroup& group, PlanStep step) {
    step.op = group.op;
    step.label = group.label;
    step.reads = group.reads;
    step.writes = group.writes;
    const bool lifted = !group.writes.empty() && scope.lifted.contains(group.writes[0]);
    const bool in_body = !group.once && !lifted;
    if (in_body) step.operations *= scope.repeated;
    if (options_.verify && step.kernel()) {
        check_pass("schedule", verify(step.kernel()->function));
    }
    plan_.steps.push_back(std::move(step));
    if (group.once) return;
    (lifted ? *scope.before : region).push_back(plan_.steps.size() - 1);
}

void Planner::add_steps(Scope& scope, Region& region, const FusionGroup& group) {
    match(
        group.kind,
        [&](const CompiledGroup&) { add_kernels(scope, region, group); },
        [&](const DynamicGroup& kind) { add_dynamic_steps(scope, region, group, kind); },
        [&](const InterpretedGroup& kind) {
            add_step(scope, region, group, {.kind = InterpretedStep{kind.why, kind.within}});
        },
        [&](const CheckGroup&) { add_step(scope, region, group, {.kind = CheckStep{}}); },
        [&](const ControlGroup&) { add_control_step(scope, region, group); });
}

void Planner::add_kernels(Scope& scope, Region& region, const FusionGroup& group) {
    const auto operations = [](const Stage& stage) {
        double steps = stage.combine == ir::FormulaOp::Sum ? 2 : 1;
        for (const StageLoop& loop : stage.loops) steps *= static_cast<double>(loop.extent);
        return steps;
    };
    if (group.rows) {
        PlanStep step;
        step.kind = schedule_rows(
            group.stages, *group.rows, scope.graph.pool, plan_.places, options_.target);
        for (const Stage& stage : group.stages) step.operations += operations(stage);
        return add_step(scope, region, group, std::move(step));
    }
    for (const Stage& stage : group.stages) {
        PlanStep step;
        step.once = group.once;
        const bool window = group.contraction && group.contraction->window;
        const auto schedule = window ? schedule_window : schedule_contraction;
        step.kind =
            group.contraction
                ? schedule(
                      stage, *group.contraction, scope.graph.pool, plan_.places, options_.target)
                : schedule_nest(stage, scope.graph.pool, plan_.places, options_.target);
        ScheduledKernel& kernel = *step.kernel();
        // It may read the bytes of a file, unless a device has a copy of them.
        kernel.function.anywhere = group.once && kernel.function.group == 0;
        if (group.contraction && !window && !group.contraction->device) {
            offer_narrower(kernel,
                           stage,
                           *group.contraction,
                           scope.graph.shared_pool,
                           plan_.places,
                           options_.target);
        }
        // Its innermost loops have no registers left for numbers of calls, either (share.h).
        if (window) kernel.narrower = [](int) { return std::nullopt; };
        step.operations = operations(stage);
        // A step of such a stage is one of a group.
        if (group.contraction) step.operations *= static_cast<double>(group.contraction->group);
        if (kernel.function.items > 0) add_step(scope, region, group, std::move(step));
    }
}

Planner::Body Planner::plan_region(const std::vector<ir::OpId>& operations,
                                   const TensorSet& results,
                                   Scope& scope) {
    StageGraph& graph = scope.graph;
    graph.shapes = std::move(shapes_);
    graph.dtypes = std::move(dtypes_);
    graph.next_tensor = next_tensor_;
    graph.results = results;
    graph.least_steps = options_.least_steps;
    if (scope.kind == RegionKind::Main) graph.carried = options_.carried;
    graph.byte_products = options_.target.byte_dots || options_.target.device;
    graph.bf16_products = options_.target.bf16_tiles || options_.target.bf16_dots;
    graph.lanes = options_.target.lanes();
    graph.device = options_.target.device;
    graph.pool.strict = options_.numerics == Numerics::Strict;
    graph.pool.integer_powers = options_.integer_powers;
    graph.pool.accumulate = options_.accumulate;
    const size_t number = plan_.regions.size();
    plan_.regions.emplace_back();
    for (const ir::OpId id : operations) add_operation(scope, id);
    PassLog* const log = options_.log;
    if (log && log->wants("stages")) log->text += print(scope);
    const PassOptions passes{options_.target,
                             options_.numerics,
                             options_.least_gain,
                             options_.window_share,
                             options_.term_share,
                             options_.verify};
    run_passes(PassPhase::Stages, scope, passes, log);
    if (options_.fuse) run_passes(PassPhase::Optimise, scope, passes, log);
    if (options_.fuse && scope.kind == RegionKind::Main) plan_.carried = graph.carried;
    place_groups(scope);
    if (options_.fuse) {
        run_passes(PassPhase::Placed, scope, passes, log);
        place_groups(scope);
    }
    find_when(scope);
    Region region;
    for (const FusionGroup& group : graph.groups) add_steps(scope, region, group);
    plan_.regions[number] = std::move(region);
    shapes_ = std::move(graph.shapes);
    dtypes_ = std::move(graph.dtypes);
    next_tensor_ = graph.next_tensor;
    return {number, std::move(scope.written)};
}

Plan Planner::make() {
    find_shapes();
    find_constants();
    TensorSet results;
    for (const ir::Port& port : program_.graphs[program_.main].outputs) {
        results.insert(port.operand.items.begin(), port.operand.items.end());
    }
    for (const ir::Update& update : program_.updates) results.insert(update.value);
    Scope scope = new_scope(RegionKind::Main);
    plan_region(program_.graphs[program_.main].operations, results, scope);
    PassLog* const log = options_.log;
    if (log && log->wants("schedule")) log->text += print(plan_, program_);
    if (options_.fuse) find_waves(plan_);
    plan_memory(plan_, {results.begin(), results.end()}, options_.apart);
    if (log && log->wants("memory")) log->text += print(plan_, program_);
    return std::move(plan_);
}

Plan make_plan(const ir::Program& program, const KnownExtents& known, const PlanOptions& options) {
    PlanOptions own = options;
    own.fuse &= options.numerics != Numerics::Strict;
    if (options.verify) {
        const std::vector<std::string> faults = ir::verify(program);
        check_pass("program", faults.empty() ? "" : faults[0]);
    }
    return Planner(program, known, own).make();
}

}  // namespace lemma::loop
