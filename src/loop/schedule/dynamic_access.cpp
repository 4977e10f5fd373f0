#include "loop/schedule/dynamic_access.h"

#include <algorithm>

#include "base/checked.h"
#include "ir/program/lane_math.h"

namespace lemma::loop {

int64_t DynamicAccess::stride(ir::TensorId tensor,
                              const std::vector<ExprId>& index,
                              VarId var) const {
    const auto extents = run_time_.extents.find(tensor);
    if (extents == run_time_.extents.end()) {
        return stride_of(pool_, places_.at(tensor), index, var);
    }
    int64_t result = 0;
    std::optional<int64_t> step = 1;  // of the axis; missing: the run tells
    for (size_t axis = index.size(); axis-- > 0;) {
        if (pool_.depends(index[axis], var)) {
            const auto affine = pool_.affine(index[axis]);
            if (!affine || !step || !is_inside(tensor, axis, index[axis])) return INT64_MAX;
            for (const AddressTerm& term : affine->terms) {
                if (term.var != var) continue;
                result = ir::wrapping_add(result, ir::wrapping_mul(term.factor, *step));
            }
        }
        const Expr& extent = pool_[extents->second[axis]];
        const bool known = step && extent.op == Op::Constant;
        step = known ? checked_mul(*step, extent.integer) : std::nullopt;
    }
    return result;
}

bool DynamicAccess::is_inside(ir::TensorId tensor, size_t axis, ExprId index) const {
    return std::ranges::find(stage_.inside, Stage::Inside{tensor, axis, index}) !=
           stage_.inside.end();
}

ExprId DynamicAccess::outside(ir::TensorId tensor, const std::vector<ExprId>& index) {
    const auto extents = run_time_.extents.find(tensor);
    ExprId result;
    for (size_t axis = 0; axis < index.size(); ++axis) {
        ExprId extent;
        if (extents != run_time_.extents.end()) {
            if (is_inside(tensor, axis, index[axis])) continue;
            extent = extents->second[axis];
        } else {
            const int64_t known = places_.at(tensor).shape[axis];
            const StagePool::Range range = pool_.range(index[axis]);
            if (range.low >= 0 && range.high < known) continue;
            extent = pool_.build.integer(known);
        }
        const ExprId zero = pool_.build.integer(0);
        result = either(result, pool_.build.make(Op::Less, {index[axis], zero}));
        result = either(result, pool_.build.make(Op::LessEqual, {extent, index[axis]}));
    }
    return result;
}

ExprId DynamicAccess::either(ExprId a, ExprId b) {
    if (!a.valid() || !b.valid()) return a.valid() ? a : b;
    return pool_.build.make(Op::Or, {a, b});
}

ExprId DynamicAccess::fault(ExprId id) {
    if (!id.valid()) return {};
    if (const auto found = faults_.find(id); found != faults_.end()) return found->second;
    const Expr e = pool_[id];
    ExprId result;
    if (e.op == Op::Select) {
        const ExprId then = fault(e.args[1]);
        const ExprId other = fault(e.args[2]);
        const ExprId no = pool_.build.boolean(false);
        if (then.valid() || other.valid()) {
            result =
                pool_.build.select(e.args[0], then.valid() ? then : no, other.valid() ? other : no);
        }
        result = either(fault(e.args[0]), result);
    } else {
        for (const ExprId arg : e.args) result = either(result, fault(arg));
        if (e.op == Op::Read) result = either(result, outside(tensor_of(e), e.args));
    }
    return faults_[id] = result;
}

}  // namespace lemma::loop
