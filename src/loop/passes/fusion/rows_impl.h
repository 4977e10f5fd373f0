// SPDX-License-Identifier: Apache-2.0
// loop/passes/fusion/rows_impl.h — shared functions of store_along and rows.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "loop/passes/graph.h"

namespace lemma::loop {

// Fewer rows give threads too little to share; a short kernel is one piece of work in any case.
constexpr int64_t kEnoughRows = 8;
constexpr int64_t kFewSteps = 16384;

inline int64_t steps_of(const std::vector<StageLoop>& loops) {
    int64_t steps = 1;
    for (const StageLoop& loop : loops) steps *= loop.extent;
    return steps;
}

inline std::optional<VarId> as_var(const StagePool& pool, ExprId id) {
    const Expr& e = pool[id];
    if (e.op != Op::Var) return std::nullopt;
    return make_id<VarId>(static_cast<size_t>(e.integer));
}

inline bool contains(const std::vector<ir::TensorId>& ids, ir::TensorId id) {
    return std::ranges::find(ids, id) != ids.end();
}

// Calls visit(read) with each element that the stage reads from a tensor.
template <class Visit>
void visit_elements(const Stage& stage, const StagePool& pool, Visit&& visit) {
    for_each_value(stage, [&](ExprId value) {
        pool.visit_reads(value, [&](ExprId at, const Expr& e) {
            if (at != stage.total) visit(e);
        });
    });
}

// Whether the group has one stage, which is compiled as plain loops and runs in each run.
inline bool is_one_stage(const FusionGroup& group) {
    return group.compiled() && !group.dead && !group.once && !group.contraction && !group.rows &&
           group.stages.size() == 1;
}
// Whether each step assigns one element, none of them twice; no step is skipped, and no index
// leaves its tensor.
bool is_assignment(const Stage& stage, const StageGraph& graph);
// The same for a reduction with initial values.
bool is_reduction(const Stage& stage, const StageGraph& graph);

}  // namespace lemma::loop
