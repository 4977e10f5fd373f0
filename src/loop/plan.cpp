#include "loop/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "loop/graph.h"
#include "loop/graph_text.h"

namespace lemma::loop {

namespace {

class UsedTensors {
public:
    explicit UsedTensors(const ir::Program& program) : program_(program) {}

    std::vector<ir::TensorId> of(ir::OpId id) {
        visit(id);
        return std::move(found_);
    }

private:
    void use(ir::TensorId id) {
        if (id.valid() && seen_.insert(id).second) found_.push_back(id);
    }
    void visit_ports(const std::vector<ir::Port>& ports) {
        for (const ir::Port& port : ports) {
            for (const ir::TensorId id : port.operand.items) use(id);
        }
    }
    void visit(ir::OpId id) {
        const ir::Operation& op = program_.operations[id];
        visit_ports(op.inputs);
        visit_ports(op.outputs);
        for (const ir::Formula& formula : op.formulas) {
            for (const ir::Access& access : formula.accesses) use(access.tensor);
        }
        for (const ir::OpId part : op.parts) visit(part);
        if (const auto* branch = std::get_if<ir::Branch>(&op.control)) {
            for (const ir::Branch::Arm& arm : branch->arms) {
                visit(arm.condition);
                visit(arm.consequent);
            }
            visit(branch->alternative);
        } else if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
            for (const ir::GraphId graph :
                 {loop->pre_condition, loop->body, loop->post_condition}) {
                visit(graph);
            }
            use(loop->dynamic_count);
        }
    }
    void visit(ir::GraphId id) {
        if (!id.valid()) return;
        visit_ports(program_.graphs[id].outputs);
        for (const ir::OpId op : program_.graphs[id].operations) visit(op);
    }

    const ir::Program& program_;
    std::vector<ir::TensorId> found_;
    std::unordered_set<ir::TensorId, IdHash> seen_;
};

class Planner {
public:
    Planner(const ir::Program& program, const Known& known, const PlanOptions& options)
        : program_(program), known_(known), options_(options) {
        graph_.pool.strict = options.numerics == Numerics::Strict;
    }

    Plan make();

private:
    void find_shapes();
    void find_constants();
    void add_operation(ir::OpId id);
    void add_primitive(ir::OpId id);
    void add_interpreted(ir::OpId id, std::string why);
    void find_fixed();
    void place_tensors();
    void place(ir::TensorId id, StorageRole role);
    Layout layout_of(ir::TensorId id, int64_t& elements) const;
    StorageRole role_of(ir::TensorId id) const;
    void add_steps(Unit& unit);
    // Behind a pass.
    template <class... Parts>
    void show(const char* pass, const Parts&... parts) {
        if (options_.log && options_.log->pass == pass) {
            options_.log->text += print(parts..., program_);
        }
    }

    const ir::Program& program_;
    const Known& known_;
    const PlanOptions& options_;
    StageGraph graph_;
    Layouts layouts_;
    InPlace in_place_;
    std::unordered_set<ir::TensorId, IdHash> fixed_;  // row-major, for others see them
    Plan plan_;
};

void Planner::find_shapes() {
    graph_.next_tensor = static_cast<uint32_t>(program_.tensors.size());
    for (uint32_t i = 0; i < program_.tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        const ir::Tensor& tensor = program_.tensors[id];
        tensor::Shape shape;
        for (const ir::SymId part : tensor.shape) {
            const auto extent = evaluate(program_.symbols, part, known_);
            if (!extent || *extent < 0) break;
            shape.push_back(*extent);
        }
        const bool known = shape.size() == tensor.shape.size();
        const auto volume = known ? tensor::volume(shape) : std::nullopt;
        constexpr int64_t kMostElements = int64_t{1} << 33;
        if (!volume || *volume > kMostElements) continue;
        graph_.shapes[id] = std::move(shape);
        graph_.dtypes[id] = tensor.dtype;
    }
}

void Planner::find_constants() {
    std::unordered_set<ir::TensorId, IdHash> changed;
    for (const ir::Update& update : program_.updates) {
        changed.insert(update.variable);
        graph_.results.insert(update.value);
    }
    for (uint32_t i = 0; i < program_.tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        const ir::TensorRole role = program_.tensors[id].role;
        const bool constant = role == ir::TensorRole::Constant ||
                              (role == ir::TensorRole::Variable && !changed.contains(id));
        if (constant) graph_.constants.insert(id);
    }
    for (const ir::Port& port : program_.graphs[program_.main].outputs) {
        for (const ir::TensorId id : port.operand.items) graph_.results.insert(id);
    }
}

void Planner::add_interpreted(ir::OpId id, std::string why) {
    Unit unit;
    unit.op = id;
    unit.label = program_.operations[id].label;
    unit.interpreted = true;
    unit.why = std::move(why);
    unit.reads = used_tensors(program_, id);
    for (const ir::Port& port : program_.operations[id].outputs) {
        for (const ir::TensorId output : port.operand.items) unit.writes.push_back(output);
    }
    graph_.units.push_back(std::move(unit));
}

void Planner::add_primitive(ir::OpId id) {
    const ir::Operation& op = program_.operations[id];
    Unit unit;
    unit.op = id;
    unit.label = op.label;
    bool narrow = false;
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId output : port.operand.items) {
            if (!graph_.shapes.contains(output)) {
                return add_interpreted(id, "an extent that only the run tells");
            }
            const tensor::DType dtype = program_.tensors[output].dtype;
            narrow |= dtype == tensor::DType::F16 || dtype == tensor::DType::BF16;
        }
    }
    for (const ir::Formula& formula : op.formulas) {
        auto stage = make_stage(program_, formula, known_, graph_.shapes, graph_.pool);
        if (!stage) return add_interpreted(id, stage.error().message);
        unit.stages.push_back(std::move(*stage));
    }
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId output : port.operand.items) unit.writes.push_back(output);
    }
    graph_.units.push_back(std::move(unit));
    merge_starts(graph_, graph_.units.back());
    // Sums are rounded when they are done, not before.
    if (narrow && graph_.units.back().stages.size() > 1) {
        graph_.units.pop_back();
        add_interpreted(id, "16-bit reals in several formulas");
    } else if (graph_.pool.strict && rounds_between(graph_, graph_.units.back())) {
        graph_.units.pop_back();
        add_interpreted(id, "a result in several formulas, which strict rounds once");
    }
}

void Planner::add_operation(ir::OpId id) {
    const ir::Operation& op = program_.operations[id];
    switch (op.kind) {
        case ir::OperationKind::Compound:
            for (const ir::OpId part : op.parts) add_operation(part);
            break;
        case ir::OperationKind::Primitive:
            add_primitive(id);
            break;
        case ir::OperationKind::Intrinsic:
            add_interpreted(id, "it has no formula");
            break;
        case ir::OperationKind::Control:
            add_interpreted(id, "control flow");
            break;
    }
}

StorageRole Planner::role_of(ir::TensorId id) const {
    if (graph_.constants.contains(id)) return StorageRole::Constant;
    if (id.value >= program_.tensors.size()) return StorageRole::Computed;
    switch (program_.tensors[id].role) {
        case ir::TensorRole::Input:
            return StorageRole::Given;
        case ir::TensorRole::Variable:
            return StorageRole::Kept;
        default:
            return StorageRole::Computed;
    }
}

// Inputs and outputs, weights, and what the interpreter touches.
void Planner::find_fixed() {
    for (uint32_t i = 0; i < program_.tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        if (program_.tensors[id].role != ir::TensorRole::Intermediate) fixed_.insert(id);
    }
    fixed_.insert(graph_.results.begin(), graph_.results.end());
    for (const Unit& unit : graph_.units) {
        if (!unit.interpreted) continue;
        fixed_.insert(unit.reads.begin(), unit.reads.end());
        fixed_.insert(unit.writes.begin(), unit.writes.end());
    }
}

Layout Planner::layout_of(ir::TensorId id, int64_t& elements) const {
    const tensor::Shape& shape = graph_.shapes.at(id);
    const auto halo = layouts_.halos.find(id);
    const auto innermost = layouts_.innermost.find(id);
    std::vector<size_t> order;  // of the axes, innermost first
    if (innermost != layouts_.innermost.end()) order.push_back(innermost->second);
    for (size_t axis = shape.size(); axis-- > 0;) {
        if (order.empty() || axis != order[0] || innermost == layouts_.innermost.end()) {
            order.push_back(axis);
        }
    }
    Layout layout;
    layout.strides.resize(shape.size());
    int64_t stride = 1;
    for (const size_t axis : order) {
        layout.strides[axis] = stride;
        int64_t extent = shape[axis];
        if (halo != layouts_.halos.end()) {
            layout.offset += halo->second.below[axis] * stride;
            extent += halo->second.below[axis] + halo->second.above[axis];
        }
        stride *= extent;
    }
    elements = stride;
    return layout;
}

void Planner::place(ir::TensorId id, StorageRole role) {
    if (plan_.places.contains(id)) return;
    if (const auto operand = in_place_.find(id); operand != in_place_.end()) {
        const Place here = plan_.places.at(operand->second);
        plan_.places[id] = here;
        return;
    }
    const tensor::Shape& shape = graph_.shapes.at(id);
    Storage storage;
    storage.role = role;
    storage.dtype = graph_.dtypes.at(id);
    Layout layout = layout_of(id, storage.elements);
    storage.needs_zeros = layouts_.halos.contains(id) || graph_.padded.contains(id);
    if (id.value < program_.tensors.size()) storage.tensor = id;
    const StorageId at = plan_.storages.add(storage);
    plan_.places[id] = {at, storage.dtype, shape, std::move(layout)};
}

// What compiled stages use has memory; the rest exists in the interpreter alone.
void Planner::place_tensors() {
    for (const Unit& unit : graph_.units) {
        for (const auto* tensors : {&unit.reads, &unit.writes}) {
            for (const ir::TensorId id : *tensors) {
                if (!unit.interpreted) place(id, role_of(id));
            }
        }
    }
}

void Planner::add_steps(Unit& unit) {
    if (unit.interpreted) {
        PlanStep step;
        step.op = unit.op;
        step.label = unit.label;
        step.interpreted = true;
        step.why = unit.why;
        step.reads = unit.reads;
        step.writes = unit.writes;
        plan_.steps.push_back(std::move(step));
        return;
    }
    for (const Stage& stage : unit.stages) {
        PlanStep step;
        step.op = unit.op;
        step.label = unit.label;
        step.once = unit.once;
        step.reads = unit.reads;
        step.writes = unit.writes;
        step.kernel =
            unit.contraction
                ? schedule_contraction(
                      stage, *unit.contraction, graph_.pool, plan_.places, options_.target)
                : schedule_nest(stage, graph_.pool, plan_.places, options_.target);
        double steps = 1;
        for (const StageLoop& loop : stage.loops) steps *= static_cast<double>(loop.extent);
        step.operations = stage.combine == ir::FormulaOp::Sum ? 2 * steps : steps;
        if (step.kernel.function.items > 0) plan_.steps.push_back(std::move(step));
    }
}

Plan Planner::make() {
    find_shapes();
    find_constants();
    for (const ir::OpId id : program_.graphs[program_.main].operations) add_operation(id);
    add_zeros(graph_);
    mark_once(graph_);
    find_fixed();
    show("stages", graph_);
    if (options_.fuse) {
        compose_reshapes(graph_);
        drop_unused(graph_);
        fuse(graph_);
        show("fuse", graph_);
        find_contractions(graph_);
        show("contract", graph_);
        fold_scales(graph_);
        show("fold", graph_);
        layouts_ = choose_layouts(graph_, fixed_);
        in_place_ = find_in_place(graph_, layouts_, fixed_);
        show("layout", graph_, layouts_);
    }
    place_tensors();
    if (options_.fuse) {
        pack_weights(graph_, plan_, options_.target);
        place_tensors();
        show("pack", graph_);
    }
    for (Unit& unit : graph_.units) add_steps(unit);
    show("schedule", plan_);
    plan_memory(plan_, {graph_.results.begin(), graph_.results.end()});
    show("memory", plan_);
    return std::move(plan_);
}

}  // namespace

std::vector<ir::TensorId> used_tensors(const ir::Program& program, ir::OpId id) {
    return UsedTensors(program).of(id);
}

Plan make_plan(const ir::Program& program, const Known& known, const PlanOptions& options) {
    PlanOptions own = options;
    own.fuse &= options.numerics != Numerics::Strict;
    return Planner(program, known, own).make();
}

}  // namespace lemma::loop
