// SPDX-License-Identifier: Apache-2.0
// loop/passes/test_region.h — small regions for the tests of passes.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "loop/passes/region.h"

namespace lemma::loop {

struct TestRegion {
    using Value = std::function<ExprId(const std::vector<ExprId>& index)>;

    ir::Program program;
    BufferViews places;
    TensorSet constants;
    RegionGraph region{program, places, constants};
    StageGraph& graph = region.graph;
    StagePool& pool = region.graph.pool;
    Builder& build = region.graph.pool.build;
    ir::OpId op = program.operations.add({});

    ir::TensorId tensor(const char* name,
                        tensor::Shape shape,
                        ir::TensorRole role = ir::TensorRole::Intermediate) {
        ir::Tensor made;
        made.name = name;
        made.dtype = tensor::DType::F32;
        made.role = role;
        const ir::TensorId id = program.tensors.add(std::move(made));
        graph.next_tensor = id.value;
        return graph.new_tensor(tensor::DType::F32, std::move(shape));
    }
    ir::TensorId input(const char* name, tensor::Shape shape) {
        return tensor(name, std::move(shape), ir::TensorRole::Input);
    }
    ir::TensorId weights(const char* name, tensor::Shape shape) {
        const ir::TensorId id = tensor(name, std::move(shape), ir::TensorRole::Variable);
        constants.insert(id);
        graph.constants.insert(id);
        return id;
    }
    ExprId read(ir::TensorId id, std::vector<ExprId> index) {
        return build.read(id.value, Kind::F32, std::move(index));
    }
    ExprId make(Op operation, ExprId a, ExprId b) { return build.make(operation, {a, b}); }
    ExprId zero() { return build.real(0, Kind::F32); }

    // to[i, …] = value(i, …)
    FusionGroup& map(const char* label, ir::TensorId to, const Value& value) {
        return add(label, stage_of(to, {}, value));
    }
    // to[i, …] += value(i, …, k, …), from zero, over further variables with these extents
    FusionGroup& sum(const char* label,
                     ir::TensorId to,
                     const std::vector<int64_t>& extents,
                     const Value& value) {
        Stage stage = stage_of(to, extents, value);
        stage.combine = ir::FormulaOp::Sum;
        stage.initial = zero();
        return add(label, std::move(stage));
    }
    FusionGroup& add(const char* label, Stage stage) {
        FusionGroup group;
        group.op = op;
        group.label = label;
        group.writes = {stage.writes[0].tensor};
        group.stages = {std::move(stage)};
        find_reads(graph, group);
        return graph.groups.emplace_back(std::move(group));
    }
    Stage stage_of(ir::TensorId to, const std::vector<int64_t>& more, const Value& value) {
        Stage stage;
        std::vector<ExprId> index;
        const auto loop = [&](int64_t extent) {
            const VarId var = pool.new_var(extent);
            stage.loops.push_back({var, extent});
            index.push_back(build.index(var));
        };
        for (const int64_t extent : graph.shapes.at(to)) loop(extent);
        const std::vector<ExprId> written = index;
        for (const int64_t extent : more) loop(extent);
        stage.combine = ir::FormulaOp::Assign;
        stage.writes.push_back({to, written, value(index)});
        return stage;
    }
    std::vector<std::string> labels() const {
        std::vector<std::string> result;
        for (const FusionGroup& group : graph.groups) result.push_back(group.label);
        return result;
    }
};

}  // namespace lemma::loop
