// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/init.h"

namespace lemma::loop {

namespace {

bool merge(const Stage& first, Stage& second, StageGraph& graph) {
    const bool sums = second.combine != ir::FormulaOp::Assign &&
                      second.combine != ir::FormulaOp::Update && !second.initial.valid();
    if (!sums || !is_map(first, graph) || !covers(second, graph)) return false;
    const StageWrite& from = first.writes[0];
    const StageWrite& to = second.writes[0];
    if (from.tensor != to.tensor) return false;
    bool reads_itself = false;
    const auto visit = [&](ExprId, const Expr& e) { reads_itself |= tensor_of(e) == to.tensor; };
    for_each_value(second, [&](ExprId value) { graph.pool.visit_reads(value, visit); });
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

int merge_init(StageGraph& graph, FusionGroup& group) {
    const size_t before = group.stages.size();
    for (size_t i = 1; i < group.stages.size();) {
        if (merge(group.stages[i - 1], group.stages[i], graph)) {
            group.stages.erase(group.stages.begin() + static_cast<ptrdiff_t>(i) - 1);
        } else {
            ++i;
        }
    }
    find_reads(graph, group);
    return static_cast<int>(before - group.stages.size());
}

}  // namespace lemma::loop
