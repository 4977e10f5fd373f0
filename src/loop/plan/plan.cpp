#include "loop/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "loop/plan/plan_impl.h"
#include "tensor/room.h"

namespace lemma::loop {

// ---- What is known ------------------------------------------------------------------------------

// A constant that has elements which only the run tells.
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

void Planner::add_interpreted(Scope& scope, ir::OpId id, std::string why) {
    FusionGroup unit;
    unit.op = id;
    unit.label = program_.operations[id].label;
    unit.interpreted = true;
    unit.why = std::move(why);
    unit.within = compounds_;
    unit.reads = used_tensors(program_, id);
    for (const ir::Port& port : program_.operations[id].outputs) {
        for (const ir::TensorId output : port.operand.items) unit.writes.push_back(output);
    }
    scope.graph.units.push_back(std::move(unit));
}

void Planner::add_primitive(Scope& scope, ir::OpId id) {
    StageGraph& graph = scope.graph;
    const ir::Operation& op = program_.operations[id];
    FusionGroup unit;
    unit.op = id;
    unit.label = op.label;
    bool narrow = false;
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId output : port.operand.items) {
            if (!graph.shapes.contains(output)) return add_dynamic(scope, id, {});
            const tensor::DType dtype = program_.tensors[output].dtype;
            narrow |= dtype == tensor::DType::F16 || dtype == tensor::DType::BF16;
        }
    }
    for (const ir::Formula& formula : op.formulas) {
        auto stage = make_stage(program_, formula, known_, graph.shapes, graph.pool);
        if (!stage) return add_dynamic(scope, id, std::move(stage.error().message));
        if (options_.fuse) invert_scatter(graph, *stage);
        unit.stages.push_back(std::move(*stage));
    }
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId output : port.operand.items) unit.writes.push_back(output);
    }
    graph.units.push_back(std::move(unit));
    merge_starts(graph, graph.units.back());
    // Sums are rounded when they are done, not before.
    if (narrow && graph.units.back().stages.size() > 1) {
        graph.units.pop_back();
        add_interpreted(scope, id, "16-bit reals in several formulas");
    } else if (graph.pool.strict && rounds_between(graph, graph.units.back())) {
        graph.units.pop_back();
        add_interpreted(scope, id, "a result in several formulas, which strict rounds once");
    }
}

// What the interpreter runs, and a kernel with run-time extents, sees to its assertions itself.
void Planner::add_check(Scope& scope, ir::OpId id) {
    std::vector<FusionGroup>& units = scope.graph.units;
    const bool itself = !units.empty() && units.back().op == id && units.back().interpreted &&
                        !units.back().why.empty();
    if (itself) return;
    FusionGroup unit;
    unit.op = id;
    unit.label = program_.operations[id].label;
    unit.interpreted = true;
    unit.why = "the extents of its results";
    unit.check = true;
    units.push_back(std::move(unit));
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

void Planner::find_outer(Scope& scope) {
    TensorSet made;
    for (const FusionGroup& unit : scope.graph.units)
        made.insert(unit.writes.begin(), unit.writes.end());
    scope.outer.clear();
    for (const FusionGroup& unit : scope.graph.units) {
        for (const ir::TensorId id : unit.reads) {
            if (!made.contains(id)) scope.outer.insert(id);
        }
    }
}

// Inputs and outputs, weights, what other regions see, and what the interpreter touches.
void Planner::find_fixed(Scope& scope) {
    scope.fixed.insert(scope.graph.results.begin(), scope.graph.results.end());
    scope.fixed.insert(scope.outer.begin(), scope.outer.end());
    for (const FusionGroup& unit : scope.graph.units) {
        if (!unit.interpreted) continue;
        scope.fixed.insert(unit.reads.begin(), unit.reads.end());
        scope.fixed.insert(unit.writes.begin(), unit.writes.end());
    }
}

// ---- BufferViews
// -------------------------------------------------------------------------------------

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

Layout Planner::layout_of(const Scope& scope, ir::TensorId id, int64_t& elements) const {
    const tensor::Shape& shape = scope.graph.shapes.at(id);
    const auto halo = scope.layouts.halos.find(id);
    const auto innermost = scope.layouts.innermost.find(id);
    std::vector<size_t> order;  // of the axes, innermost first
    if (innermost != scope.layouts.innermost.end()) order.push_back(innermost->second);
    for (size_t axis = shape.size(); axis-- > 0;) {
        if (order.empty() || axis != order[0] || innermost == scope.layouts.innermost.end()) {
            order.push_back(axis);
        }
    }
    elements = 1;
    if (tensor::volume(shape) == 0) return row_major(shape);
    Layout layout;
    layout.strides.resize(shape.size());
    for (const size_t axis : order) {
        layout.strides[axis] = elements;
        int64_t extent = shape[axis];
        if (halo != scope.layouts.halos.end()) {
            layout.offset += halo->second.below[axis] * elements;
            extent += halo->second.below[axis] + halo->second.above[axis];
        }
        elements = total_elements(elements, extent);
    }
    return layout;
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
    storage.needs_zeros = scope.layouts.halos.contains(id) || scope.graph.padded.contains(id);
    if (id.value < program_.tensors.size()) storage.tensor = id;
    if (const auto parent = scope.parents.find(id); parent != scope.parents.end()) {
        storage.base = place(scope, parent->second.first);
        storage.begin = parent->second.second;
    }
    const StorageId at = plan_.storages.add(storage);
    plan_.places[id] = {at, storage.dtype, scope.graph.shapes.at(id), std::move(layout)};
    return at;
}

// What compiled stages use has memory; the rest exists in the interpreter alone.
void Planner::place_units(Scope& scope) {
    for (const FusionGroup& unit : scope.graph.units) {
        if (unit.run_time) place_dynamic(scope, unit);
        if (unit.interpreted) continue;
        for (const ir::TensorId id : unit.reads) place(scope, id);
        for (const ir::TensorId id : unit.writes) place(scope, id);
    }
    for (const auto& [id, parent] : scope.parents) place(scope, id);
}

// ---- Steps --------------------------------------------------------------------------------------

// Which units run before the first run, which before the loop, and what the others write.
void Planner::sort_units(Scope& scope) {
    const auto all_reads = [&](const FusionGroup& unit, const auto& good) {
        return std::ranges::all_of(unit.reads, [&](ir::TensorId id) {
            const bool own = std::ranges::find(unit.writes, id) != unit.writes.end();
            if (own || good(id)) return true;
            auto parent = scope.parents.find(id);
            for (; parent != scope.parents.end(); parent = scope.parents.find(id)) {
                id = parent->second.first;
            }
            return good(id);
        });
    };
    scope.written.clear();
    for (FusionGroup& unit : scope.graph.units) {
        if (!unit.interpreted) {
            const bool once = unit.once && all_reads(unit, [&](ir::TensorId id) {
                                  return constants_.contains(id);
                              });
            unit.once = once;
            if (once) {
                constants_.insert(unit.writes.begin(), unit.writes.end());
                continue;
            }
            const bool lifted =
                scope.kind == RegionKind::Loop && all_reads(unit, [&](ir::TensorId id) {
                    const bool same = scope.outer.contains(id) && !scope.changing.contains(id);
                    return same || scope.lifted.contains(id) || constants_.contains(id);
                });
            if (lifted) {
                scope.lifted.insert(unit.writes.begin(), unit.writes.end());
                continue;
            }
        }
        const bool control = unit.interpreted && unit.why.empty();
        if (!control) scope.written.insert(unit.writes.begin(), unit.writes.end());
    }
}

void Planner::add_step(Scope& scope, Region& region, const FusionGroup& unit, PlanStep step) {
    step.op = unit.op;
    step.label = unit.label;
    step.reads = unit.reads;
    step.writes = unit.writes;
    step.within = unit.within;
    const bool lifted = !unit.writes.empty() && scope.lifted.contains(unit.writes[0]);
    const bool in_body = !unit.once && !lifted;
    if (in_body) step.operations *= scope.repeated;
    plan_.steps.push_back(std::move(step));
    if (unit.once) return;
    (lifted ? *scope.before : region).push_back(plan_.steps.size() - 1);
}

void Planner::add_steps(Scope& scope, Region& region, FusionGroup& unit) {
    if (unit.run_time) return add_dynamic_steps(scope, region, unit);
    if (unit.interpreted) {
        if (unit.why.empty()) return add_control_step(scope, region, unit);
        PlanStep step;
        step.interpreted = true;
        step.why = unit.why;
        step.check = unit.check;
        return add_step(scope, region, unit, std::move(step));
    }
    const auto operations = [](const Stage& stage) {
        double steps = stage.combine == ir::FormulaOp::Sum ? 2 : 1;
        for (const StageLoop& loop : stage.loops) steps *= static_cast<double>(loop.extent);
        return steps;
    };
    if (unit.rows) {
        PlanStep step;
        step.kernel =
            schedule_rows(unit.stages, *unit.rows, scope.graph.pool, plan_.places, options_.target);
        for (const Stage& stage : unit.stages) step.operations += operations(stage);
        return add_step(scope, region, unit, std::move(step));
    }
    for (const Stage& stage : unit.stages) {
        PlanStep step;
        step.once = unit.once;
        step.kernel =
            unit.contraction
                ? schedule_contraction(
                      stage, *unit.contraction, scope.graph.pool, plan_.places, options_.target)
                : schedule_nest(stage, scope.graph.pool, plan_.places, options_.target);
        step.kernel.function.anywhere = unit.once;  // it may read the bytes of a file
        if (unit.contraction) {
            offer_narrower(step.kernel,
                           stage,
                           *unit.contraction,
                           scope.graph.shared_pool,
                           plan_.places,
                           options_.target);
        }
        step.operations = operations(stage);
        if (step.kernel.function.items > 0) add_step(scope, region, unit, std::move(step));
    }
}

// Passes go from unit to unit: what they make of them, to the last bit, is not to depend on the
// order of a file. Where the interpreter tells extents, the order of the program stays.
void Planner::order(StageGraph& graph) const {
    const bool plain = std::ranges::none_of(
        graph.units, [](const FusionGroup& unit) { return unit.interpreted || unit.run_time; });
    if (!plain) return;
    std::vector<ir::TensorId> results(graph.results.begin(), graph.results.end());
    std::ranges::sort(results, {}, [&](ir::TensorId id) { return program_.tensors[id].name; });
    order_units(graph, results);
}

void Planner::optimise(Scope& scope) {
    StageGraph& graph = scope.graph;
    order(graph);
    separate_parts(graph);
    compose_reshapes(graph);
    drop_unused(graph);
    if (scope.kind == RegionKind::Loop) {
        find_outer(scope);
        lift_sums(scope);
    }
    fuse(graph);
    if (hoist_constants(graph)) fuse(graph);
    show("fuse", graph);
    split_inverses(graph);
    find_outer(scope);
    if (scope.kind == RegionKind::Loop) {
        // Good enough to be packed before the loop.
        TensorSet wholes;
        for (const auto& [item, whole] : scope.wholes) wholes.insert(whole);
        for (const ir::TensorId id : scope.outer) {
            const bool same = !scope.changing.contains(id) && !wholes.contains(id);
            if (same) graph.constants.insert(id);
        }
    }
    merge_siblings(graph, options_.target, options_.least_gain);
    show("siblings", graph);
    find_contractions(graph);
    show("contract", graph);
    fold_scales(graph);
    show("fold", graph);
    scope.layouts = choose_layouts(graph, scope.fixed);
    show("layout", graph, scope.layouts);
    find_insertions(scope);
    sort_units(scope);
    find_parts(scope);
    find_views(scope);
    sort_units(scope);
    const TensorSet shared = find_shared(scope);
    share_rows(graph, scope.layouts, shared, scope.lifted, options_.target);
    show("rows", graph);
    find_in_place(scope, shared);
}

// Tensors in whose memory others lie, or which lie in that of others.
TensorSet Planner::find_shared(const Scope& scope) const {
    TensorSet shared;
    for (const auto& [id, parent] : scope.parents) {
        shared.insert(id);
        shared.insert(parent.first);
    }
    for (const auto& [id, whole] : scope.inside) {
        shared.insert(id);
        shared.insert(whole.first);
    }
    return shared;
}

// The memory of an operand is taken over where nothing else lies in it, and no other iteration
// needs it.
void Planner::find_in_place(Scope& scope, const TensorSet& shared) {
    scope.in_place = loop::find_in_place(scope.graph, scope.layouts, scope.fixed);
    std::erase_if(scope.in_place, [&](const auto& item) {
        const auto& [result, operand] = item;
        const bool kept = scope.lifted.contains(operand) && !scope.lifted.contains(result);
        return kept || shared.contains(result) || shared.contains(operand);
    });
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
    graph.pool.strict = options_.numerics == Numerics::Strict;
    const size_t number = plan_.regions.size();
    plan_.regions.emplace_back();
    for (const ir::OpId id : operations) add_operation(scope, id);
    add_zeros(graph);
    for (const FusionGroup& unit : graph.units) {
        for (const ir::TensorId id : unit.reads) {
            if (constants_.contains(id)) graph.constants.insert(id);
        }
    }
    mark_once(graph);
    constants_.insert(graph.constants.begin(), graph.constants.end());
    find_outer(scope);
    find_fixed(scope);
    show("stages", graph);
    if (options_.fuse) optimise(scope);
    place_units(scope);
    if (options_.fuse) {
        find_squares(graph, options_.numerics);
        pack_weights(graph, plan_.places, options_.target);
        place_units(scope);
        show("pack", graph);
    }
    sort_units(scope);
    Region region;
    for (FusionGroup& unit : graph.units) add_steps(scope, region, unit);
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
    Scope scope;
    plan_region(program_.graphs[program_.main].operations, results, scope);
    show("schedule", plan_);
    plan_memory(plan_, {results.begin(), results.end()}, options_.apart);
    show("memory", plan_);
    return std::move(plan_);
}

Plan make_plan(const ir::Program& program, const KnownExtents& known, const PlanOptions& options) {
    PlanOptions own = options;
    own.fuse &= options.numerics != Numerics::Strict;
    return Planner(program, known, own).make();
}

}  // namespace lemma::loop
