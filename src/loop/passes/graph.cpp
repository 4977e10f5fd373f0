#include "loop/passes/graph.h"

#include <algorithm>

namespace lemma::loop {

ir::TensorId StageGraph::new_tensor(tensor::DType dtype, tensor::Shape shape) {
    const auto id = make_id<ir::TensorId>(next_tensor++);
    shapes[id] = std::move(shape);
    dtypes[id] = dtype;
    return id;
}

void find_reads(StageGraph& graph, FusionGroup& unit) {
    if (unit.interpreted) return;
    unit.reads.clear();
    const auto add = [](std::vector<ir::TensorId>& to, ir::TensorId id) {
        if (std::ranges::find(to, id) == to.end()) to.push_back(id);
    };
    ExprId total;
    const auto visit = [&](ExprId id, const Expr& e) {
        if (id == total || (unit.rows && unit.rows->numbers.contains(tensor_of(e)))) return;
        add(unit.reads, tensor_of(e));
    };
    for (const Stage& stage : unit.stages) {
        total = stage.total;
        for (const StageWrite& write : stage.writes) {
            graph.pool.visit_reads(write.value, visit);
            for (const ExprId index : write.index) graph.pool.visit_reads(index, visit);
        }
        for (const StageGuard& guard : stage.guards) graph.pool.visit_reads(guard.index, visit);
        graph.pool.visit_reads(stage.condition, visit);
        graph.pool.visit_reads(stage.initial, visit);
        graph.pool.visit_reads(stage.finish, visit);
        if (stage.kept) graph.pool.visit_reads(stage.kept->value, visit);
    }
}

bool keeps_values(tensor::DType dtype) {
    return dtype == tensor::DType::F32 || dtype == tensor::DType::F64 ||
           dtype == tensor::DType::I64 || dtype == tensor::DType::Bool;
}

bool in_range(const StageGraph& graph, ExprId value) {
    bool result = true;
    graph.pool.visit_reads(value, [&](ExprId, const Expr& e) {
        const auto shape = graph.shapes.find(tensor_of(e));
        if (shape == graph.shapes.end()) return;
        for (size_t axis = 0; axis < e.args.size(); ++axis) {
            const StagePool::Range range = graph.pool.range(e.args[axis]);
            result &= range.low >= 0 && range.high < shape->second[axis];
        }
    });
    return result;
}

// Every element of the tensor is written.
bool covers(const Stage& stage, const StageGraph& graph) {
    if (stage.writes.size() != 1 || stage.empty) return false;
    const StageWrite& write = stage.writes[0];
    const WriteShape shape = write_shape(stage, write, graph.pool);
    if (!shape.injective) return false;
    const tensor::Shape& extents = graph.shapes.at(write.tensor);
    for (size_t axis = 0; axis < extents.size(); ++axis) {
        const auto affine = graph.pool.affine(write.index[axis]);
        if (!affine || affine->offset != 0) return false;
        int64_t reach = 1;
        std::vector<AddressTerm> terms = affine->terms;
        std::ranges::sort(terms, {}, &AddressTerm::factor);
        for (const AddressTerm& term : terms) {
            if (term.factor != reach) return false;
            reach *= graph.pool.extent(term.var);
        }
        if (reach != extents[axis]) return false;
    }
    return true;
}

bool is_map(const Stage& first, const StageGraph& graph) {
    if (first.combine != ir::FormulaOp::Assign || !covers(first, graph)) return false;
    if (first.condition.valid() || !first.guards.empty()) return false;
    const StageWrite& write = first.writes[0];
    if (write_shape(first, write, graph.pool).vars.size() != first.loops.size()) return false;
    for (const ExprId index : write.index) {
        const Expr& e = graph.pool[index];
        if (e.op != Op::Var && e.op != Op::Constant) return false;
    }
    bool reads_itself = false;
    graph.pool.visit_reads(write.value, [&](ExprId, const Expr& e) {
        reads_itself |= e.integer == write.tensor.value;
    });
    return !reads_itself;
}

namespace {

bool merge(const Stage& first, Stage& second, StageGraph& graph) {
    const bool sums = second.combine != ir::FormulaOp::Assign &&
                      second.combine != ir::FormulaOp::Update && !second.initial.valid();
    if (!sums || !is_map(first, graph) || !covers(second, graph)) return false;
    const StageWrite& from = first.writes[0];
    const StageWrite& to = second.writes[0];
    if (from.tensor != to.tensor) return false;
    bool reads_itself = false;
    const auto visit = [&](ExprId, const Expr& e) { reads_itself |= e.integer == to.tensor.value; };
    graph.pool.visit_reads(to.value, visit);
    graph.pool.visit_reads(second.condition, visit);
    for (const StageGuard& guard : second.guards) graph.pool.visit_reads(guard.index, visit);
    if (reads_itself) return false;
    std::unordered_map<VarId, ExprId, IdHash> with;
    for (size_t axis = 0; axis < from.index.size(); ++axis) {
        const Expr& e = graph.pool[from.index[axis]];
        if (e.op == Op::Var) with[make_id<VarId>(static_cast<size_t>(e.integer))] = to.index[axis];
    }
    second.initial = graph.pool.substitute(from.value, with);
    return true;
}

}  // namespace

void merge_starts(StageGraph& graph, FusionGroup& unit) {
    for (size_t i = 1; i < unit.stages.size();) {
        if (merge(unit.stages[i - 1], unit.stages[i], graph)) {
            unit.stages.erase(unit.stages.begin() + static_cast<ptrdiff_t>(i) - 1);
        } else {
            ++i;
        }
    }
    find_reads(graph, unit);
}

namespace {

using Box = std::vector<StagePool::Range>;  // where a stage writes, by axis

bool apart(const Box& a, const Box& b) {
    for (size_t axis = 0; axis < a.size(); ++axis) {
        if (a[axis].high < b[axis].low || b[axis].high < a[axis].low) return true;
    }
    return false;
}

// One behind the other along an axis, as the parts of a concatenation are.
bool in_a_row(std::vector<Box>& boxes, size_t axis) {
    std::ranges::sort(boxes, {}, [axis](const Box& box) { return box[axis].low; });
    for (size_t i = 1; i < boxes.size(); ++i) {
        if (boxes[i - 1][axis].high >= boxes[i][axis].low) return false;
    }
    return true;
}

bool all_apart(std::vector<Box> boxes) {
    if (boxes.size() < 2) return true;
    for (size_t axis = 0; axis < boxes[0].size(); ++axis) {
        if (in_a_row(boxes, axis)) return true;
    }
    // Parts along several axes are few; who has more gets a start of zeros that is not needed.
    constexpr size_t kMostCompared = 256;
    if (boxes.size() > kMostCompared) return false;
    for (size_t i = 0; i < boxes.size(); ++i) {
        for (size_t k = 0; k < i; ++k) {
            if (!apart(boxes[k], boxes[i])) return false;
        }
    }
    return true;
}

// Plain assignments that share the elements among them, as those of a concatenation do.
bool covers_in_parts(const std::vector<const Stage*>& stages, ir::TensorId id, StageGraph& graph) {
    int64_t written = 0;
    std::vector<Box> boxes;
    for (const Stage* each : stages) {
        const Stage& stage = *each;
        const bool plain = stage.combine == ir::FormulaOp::Assign && stage.guards.empty() &&
                           !stage.condition.valid() && stage.writes.size() == 1;
        if (!plain) return false;
        if (stage.empty) continue;
        const WriteShape shape = write_shape(stage, stage.writes[0], graph.pool);
        if (!shape.injective || shape.vars.size() != stage.loops.size()) return false;
        Box& box = boxes.emplace_back();
        for (const ExprId index : stage.writes[0].index) box.push_back(graph.pool.range(index));
        int64_t steps = 1;
        for (const StageLoop& loop : stage.loops) steps *= loop.extent;
        written += steps;
    }
    return written == tensor::volume(graph.shapes.at(id)) && all_apart(std::move(boxes));
}

bool starts_itself(const FusionGroup& unit, ir::TensorId id, StageGraph& graph) {
    std::vector<const Stage*> stages;
    for (const Stage& stage : unit.stages) {
        for (const StageWrite& write : stage.writes) {
            if (write.tensor == id) stages.push_back(&stage);
        }
    }
    if (stages.empty()) return false;
    const Stage& first = *stages.front();
    const bool plain =
        first.combine == ir::FormulaOp::Assign && first.guards.empty() && !first.condition.valid();
    if (covers(first, graph) && (plain || first.initial.valid())) return true;
    return covers_in_parts(stages, id, graph);
}

Stage zero_stage(ir::TensorId id, StageGraph& graph) {
    Stage stage;
    stage.combine = ir::FormulaOp::Assign;
    StageWrite write{id, {}, {}};
    Builder& build = graph.pool.build;
    for (const int64_t extent : graph.shapes.at(id)) {
        stage.empty |= extent == 0;
        if (extent <= 1) {
            write.index.push_back(build.integer(0));
            continue;
        }
        const VarId var = graph.pool.new_var(extent);
        stage.loops.push_back({var, extent});
        write.index.push_back(build.index(var));
    }
    const Kind kind = kind_of(graph.dtypes.at(id));
    write.value = kind == Kind::Bool  ? build.boolean(false)
                  : kind == Kind::Int ? build.integer(0)
                                      : build.real(0, kind);
    stage.writes.push_back(std::move(write));
    return stage;
}

}  // namespace

void add_zeros(StageGraph& graph) {
    for (FusionGroup& unit : graph.units) {
        for (const ir::TensorId id : unit.writes) {
            if (unit.interpreted || starts_itself(unit, id, graph)) continue;
            unit.stages.insert(unit.stages.begin(), zero_stage(id, graph));
        }
    }
}

namespace {

// Stages that have nothing to do with one another, each with a tensor of its own.
bool falls_apart(const FusionGroup& unit) {
    constexpr size_t kMostParts = 16;  // more are packs for loops
    const size_t parts = unit.stages.size();
    if (unit.interpreted || parts < 2 || parts > kMostParts || unit.writes.size() != parts) {
        return false;
    }
    for (size_t i = 0; i < parts; ++i) {
        const Stage& stage = unit.stages[i];
        if (stage.writes.size() != 1 || stage.writes[0].tensor != unit.writes[i]) return false;
        if (std::ranges::find(unit.reads, unit.writes[i]) != unit.reads.end()) return false;
    }
    return true;
}

}  // namespace

void separate_parts(StageGraph& graph) {
    std::vector<FusionGroup> units;
    for (FusionGroup& unit : graph.units) {
        if (!falls_apart(unit)) {
            units.push_back(std::move(unit));
            continue;
        }
        for (size_t i = 0; i < unit.stages.size(); ++i) {
            FusionGroup part;
            part.op = unit.op;
            part.label = unit.label;
            part.once = unit.once;
            part.stages.push_back(std::move(unit.stages[i]));
            part.writes = {unit.writes[i]};
            find_reads(graph, part);
            units.push_back(std::move(part));
        }
    }
    graph.units = std::move(units);
}

ir::TensorId new_constant(StageGraph& graph, const std::vector<VarId>& vars) {
    tensor::Shape shape;
    for (const VarId var : vars) shape.push_back(graph.pool.extent(var));
    const ir::TensorId id = graph.new_tensor(tensor::DType::F32, std::move(shape));
    graph.constants.insert(id);
    return id;
}

FusionGroup constants_unit(StageGraph& graph,
                           const FusionGroup& of,
                           const char* what,
                           const std::vector<VarId>& vars,
                           const std::vector<MadeConstant>& made) {
    FusionGroup unit;
    unit.op = of.op;
    unit.label = of.label + what;
    unit.once = true;
    Stage stage;
    stage.combine = ir::FormulaOp::Assign;
    std::vector<ExprId> index;
    std::unordered_map<VarId, ExprId, IdHash> with;
    for (const VarId var : vars) {
        const int64_t extent = graph.pool.extent(var);
        const VarId own = graph.pool.new_var(extent);
        stage.loops.push_back({own, extent});
        index.push_back(graph.pool.build.index(own));
        with[var] = index.back();
    }
    for (const MadeConstant& item : made) {
        stage.writes.push_back({item.tensor, index, graph.pool.substitute(item.value, with)});
        unit.writes.push_back(item.tensor);
    }
    unit.stages.push_back(std::move(stage));
    find_reads(graph, unit);
    return unit;
}

void mark_once(StageGraph& graph) {
    for (FusionGroup& unit : graph.units) {
        if (unit.interpreted) continue;
        unit.once = std::ranges::all_of(unit.reads, [&](ir::TensorId id) {
            const bool own = std::ranges::find(unit.writes, id) != unit.writes.end();
            return own || graph.constants.contains(id);
        });
        if (unit.once) graph.constants.insert(unit.writes.begin(), unit.writes.end());
    }
}

void drop_unused(StageGraph& graph) {
    std::unordered_set<ir::TensorId, IdHash> wanted = graph.results;
    for (size_t i = graph.units.size(); i-- > 0;) {
        FusionGroup& unit = graph.units[i];
        const bool used =
            std::ranges::any_of(unit.writes, [&](ir::TensorId id) { return wanted.contains(id); });
        unit.dead = !used && !unit.interpreted;
        if (!unit.dead) wanted.insert(unit.reads.begin(), unit.reads.end());
    }
    std::erase_if(graph.units, [](const FusionGroup& unit) { return unit.dead; });
}

}  // namespace lemma::loop
