// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/widen.h"

#include <algorithm>

#include "loop/schedule/nest.h"

namespace lemma::loop {

namespace {

// The type in which an operation holds a result until it is done.
tensor::DType held_as(tensor::DType dtype, const StagePool& pool) {
    using tensor::DType;
    if (dtype == DType::F64 || dtype == DType::Bool || dtype == DType::Str) return dtype;
    if (!tensor::is_real(dtype)) return pool.strict ? DType::I64 : dtype;
    return pool.strict && pool.accumulate == ir::Accumulate::F64 ? DType::F64 : DType::F32;
}

bool reads(const Stage& stage, ir::TensorId id, const StagePool& pool) {
    bool found = false;
    for_each_value(stage, [&](ExprId value) {
        pool.visit_reads(value, [&](ExprId, const Expr& e) { found |= tensor_of(e) == id; });
    });
    return found;
}

// Whether the memory of the tensor holds values between two steps that compute them.
bool holds_between(const FusionGroup& group, ir::TensorId id, const StagePool& pool) {
    bool written = false;
    for (const Stage& stage : group.stages) {
        if (reads(stage, id, pool)) return true;
        for (const StageWrite& write : stage.writes) {
            if (write.tensor != id) continue;
            const bool adds = accumulates(stage) && !stage.initial.valid();
            const bool one_sum =
                stage.writes.size() == 1 && write_shape(stage, write, pool).injective;
            if (adds && (written || !one_sum)) return true;
            written = true;
        }
    }
    return false;
}

// Replaces the elements of `from` in the value by those of `to`, which is wider.
void redirect(StageGraph& graph, ExprId& value, ir::TensorId from, ir::TensorId to) {
    StagePool& pool = graph.pool;
    const Kind kind = kind_of(graph.dtypes.at(to));
    while (true) {
        ExprId narrow;
        pool.visit_reads(value, [&](ExprId id, const Expr& e) {
            if (tensor_of(e) == from) narrow = id;
        });
        if (!narrow.valid()) return;
        const Expr e = pool[narrow];
        const ExprId wide = pool.build.read(to.value, kind, e.args);
        value = pool.replace(value, pool.build.cast(narrow, kind), wide);
        value = pool.replace(value, narrow, pool.build.cast(wide, e.type.kind));
    }
}

}  // namespace

std::vector<ir::TensorId> rounded_between(const StageGraph& graph, const FusionGroup& group) {
    std::vector<ir::TensorId> result;
    for (const Stage& stage : group.stages) {
        for (const StageWrite& write : stage.writes) {
            const tensor::DType dtype = graph.dtypes.at(write.tensor);
            const bool known = std::ranges::find(result, write.tensor) != result.end();
            if (known || held_as(dtype, graph.pool) == dtype) continue;
            if (holds_between(group, write.tensor, graph.pool)) result.push_back(write.tensor);
        }
    }
    return result;
}

void widen_result(StageGraph& graph, FusionGroup& group, ir::TensorId id) {
    const tensor::DType held = held_as(graph.dtypes.at(id), graph.pool);
    if (held == graph.dtypes.at(id)) return;
    const ir::TensorId wide = graph.new_tensor(held, graph.shapes.at(id));
    for (Stage& stage : group.stages) {
        for (StageWrite& write : stage.writes) {
            if (write.tensor == id) write.tensor = wide;
        }
        for_each_value(stage, [&](ExprId& value) { redirect(graph, value, id, wide); });
    }
    Stage copy = assign_all(graph, id);
    copy.writes[0].value =
        graph.pool.build.read(wide.value, kind_of(graph.dtypes.at(wide)), copy.writes[0].index);
    group.stages.push_back(std::move(copy));
    group.writes.push_back(wide);
}

int widen_results(StageGraph& graph, FusionGroup& group) {
    const std::vector<ir::TensorId> narrow = rounded_between(graph, group);
    for (const ir::TensorId id : narrow) widen_result(graph, group, id);
    if (!narrow.empty()) find_reads(graph, group);
    return static_cast<int>(narrow.size());
}

}  // namespace lemma::loop
