// loop/schedule/dynamic_access.h — how a stage with run-time extents goes through memory, and when
// an index of it leaves its tensor.
#pragma once

#include <unordered_map>
#include <vector>

#include "loop/schedule/schedule.h"
#include "loop/stage/dynamic.h"

namespace lemma::loop {

class DynamicAccess {
public:
    DynamicAccess(const Stage& stage,
                  const DynamicShape& run_time,
                  StagePool& pool,
                  const BufferViews& places)
        : stage_(stage), run_time_(run_time), pool_(pool), places_(places) {}

    // As stride_of; INT64_MAX too where the run tells it.
    int64_t stride(ir::TensorId tensor, const std::vector<ExprId>& index, VarId var) const;
    // When the index is outside of the tensor. Missing: never.
    ExprId outside(ir::TensorId tensor, const std::vector<ExprId>& index);
    // When a read that the value needs is outside. Missing: never.
    ExprId fault(ExprId id);
    // Missing ones are false.
    ExprId either(ExprId a, ExprId b);

private:
    bool is_inside(ir::TensorId tensor, size_t axis, ExprId index) const;

    const Stage& stage_;
    const DynamicShape& run_time_;
    StagePool& pool_;
    const BufferViews& places_;
    std::unordered_map<ExprId, ExprId, IdHash> faults_;
};

}  // namespace lemma::loop
