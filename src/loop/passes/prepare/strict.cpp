#include "loop/passes/prepare/strict.h"

namespace lemma::loop {

bool rounds_between(const StageGraph& graph, const FusionGroup& group) {
    std::unordered_set<ir::TensorId, IdHash> written;
    for (const Stage& stage : group.stages) {
        bool again = false;
        const auto use = [&](ir::TensorId id) { again |= written.contains(id); };
        for (const StageWrite& write : stage.writes) use(write.tensor);
        for_each_value(stage, [&](ExprId value) {
            graph.pool.visit_reads(value, [&](ExprId, const Expr& e) { use(tensor_of(e)); });
        });
        if (again) return true;
        for (const StageWrite& write : stage.writes) {
            if (graph.dtypes.at(write.tensor) == tensor::DType::F32) written.insert(write.tensor);
        }
    }
    return false;
}

}  // namespace lemma::loop
