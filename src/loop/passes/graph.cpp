// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/graph.h"

#include <algorithm>

namespace lemma::loop {

ir::TensorId StageGraph::new_tensor(tensor::DType dtype, tensor::Shape shape) {
    const auto id = make_id<ir::TensorId>(next_tensor++);
    shapes[id] = std::move(shape);
    dtypes[id] = dtype;
    return id;
}

void find_reads(StageGraph& graph, FusionGroup& group) {
    if (!group.compiled()) return;
    group.reads.clear();
    const auto add = [](std::vector<ir::TensorId>& to, ir::TensorId id) {
        if (std::ranges::find(to, id) == to.end()) to.push_back(id);
    };
    ExprId total;
    const auto visit = [&](ExprId id, const Expr& e) {
        if (id == total || (group.rows && group.rows->numbers.contains(tensor_of(e)))) return;
        add(group.reads, tensor_of(e));
    };
    for (const Stage& stage : group.stages) {
        total = stage.total;
        for_each_value(stage, [&](ExprId value) { graph.pool.visit_reads(value, visit); });
    }
}

bool keeps_values(tensor::DType dtype) {
    return tensor::is_real(dtype) || dtype == tensor::DType::I64 || dtype == tensor::DType::Bool;
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

// Whether the stage writes every element of its tensor.
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

Stage assign_all(StageGraph& graph, ir::TensorId id) {
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
    stage.writes.push_back(std::move(write));
    return stage;
}

ir::TensorId new_constant(StageGraph& graph, const std::vector<VarId>& vars) {
    tensor::Shape shape;
    for (const VarId var : vars) shape.push_back(graph.pool.extent(var));
    const ir::TensorId id = graph.new_tensor(tensor::DType::F32, std::move(shape));
    graph.constants.insert(id);
    return id;
}

bool reads_constants(const StageGraph& graph, ExprId value) {
    bool constant = true;
    graph.pool.visit_reads(
        value, [&](ExprId, const Expr& e) { constant &= graph.constants.contains(tensor_of(e)); });
    return constant;
}

FusionGroup constants_group(StageGraph& graph,
                            const FusionGroup& of,
                            const char* what,
                            const std::vector<VarId>& vars,
                            const std::vector<MadeConstant>& made) {
    FusionGroup group;
    group.op = of.op;
    group.label = of.label + what;
    group.once = true;
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
        group.writes.push_back(item.tensor);
    }
    group.stages.push_back(std::move(stage));
    find_reads(graph, group);
    return group;
}

}  // namespace lemma::loop
