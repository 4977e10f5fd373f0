// SPDX-License-Identifier: Apache-2.0
// The movement of a stage's accesses through memory.
#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "ir/program/lane_math.h"
#include "loop/schedule/schedule.h"

namespace lemma::loop {

bool is_inside(const StagePool& pool, const BufferView& place, size_t axis, ExprId index) {
    if (!place.extents.empty()) return pool.is_inside(index, place.extents[axis]);
    const StagePool::Range range = pool.range(index);
    return range.low >= 0 && range.high < place.shape[axis];
}

ExprId extent_of(StagePool& pool, const BufferView& place, size_t axis) {
    return place.extents.empty() ? pool.build.integer(place.shape[axis]) : place.extents[axis];
}

namespace {

// The stride of each axis; missing if it is known only at run time.
std::optional<int64_t> stride_of_axis(const StagePool& pool, const BufferView& place, size_t axis) {
    if (place.extents.empty()) return place.layout.strides[axis];
    std::optional<int64_t> stride = 1;
    const std::vector<ExprId>& spaced = place.spaced();
    for (size_t inner = spaced.size(); stride && --inner > axis;) {
        const Expr& extent = pool[spaced[inner]];
        const bool known = extent.op == Op::Constant;
        stride = known ? checked_mul(*stride, extent.integer) : std::nullopt;
    }
    return stride;
}

}  // namespace

int64_t stride_of(const StagePool& pool,
                  const BufferView& place,
                  const std::vector<ExprId>& index,
                  VarId var) {
    int64_t result = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) {
        if (!pool.depends(index[axis], var)) continue;
        const auto affine = pool.affine(index[axis]);
        const auto stride = stride_of_axis(pool, place, axis);
        const bool even = place.extents.empty() || is_inside(pool, place, axis, index[axis]);
        if (!affine || !stride || !even) return INT64_MAX;
        for (const AddressTerm& term : affine->terms) {
            if (term.var != var) continue;
            result = ir::wrapping_add(result, ir::wrapping_mul(term.factor, *stride));
        }
    }
    return result == INT64_MIN ? INT64_MAX : result;
}

namespace {

class Collapse {
public:
    Collapse(const Stage& stage, const StagePool& pool, const BufferViews& places)
        : stage_(stage), pool_(pool), places_(places) {}

    bool check(VarId outer, VarId inner, int64_t inner_extent) {
        vars_ = {outer, inner};
        extent_ = inner_extent;
        for (const StageGuard& guard : stage_.guards) {
            if (pool_.depends_on_any(guard.index, vars_)) return false;
        }
        std::vector<ExprId> work = {stage_.condition, stage_.initial, stage_.finish};
        for (const StageWrite& write : stage_.writes) {
            if (!access(write.tensor, write.index)) return false;
            work.push_back(write.value);
        }
        for (const StageWrite& write : stage_.also) {
            if (!access(write.tensor, write.index)) return false;
            work.push_back(write.value);
        }
        if (stage_.kept && !access(stage_.kept->tensor, stage_.kept->index)) return false;
        return values(std::move(work));
    }

private:
    // Whether the indices stay inside and continue evenly.
    bool access(ir::TensorId tensor, const std::vector<ExprId>& index) const {
        const BufferView& place = places_.at(tensor);
        for (size_t axis = 0; axis < index.size(); ++axis) {
            if (!pool_.depends_on_any(index[axis], vars_)) continue;
            const bool inside = is_inside(pool_, place, axis, index[axis]);
            if (!inside || !pool_.affine(index[axis])) return false;
        }
        const int64_t a = stride_of(pool_, place, index, vars_[0]);
        const int64_t b = stride_of(pool_, place, index, vars_[1]);
        return a != INT64_MAX && b != INT64_MAX && a == ir::wrapping_mul(b, extent_);
    }
    // The value must not use the variables as numbers.
    bool values(std::vector<ExprId> work) const {
        std::unordered_map<ExprId, bool, IdHash> seen;
        while (!work.empty()) {
            const ExprId id = work.back();
            work.pop_back();
            if (!id.valid() || id == stage_.total || !seen.emplace(id, true).second) continue;
            const Expr& e = pool_[id];
            if (e.op == Op::Read) {
                if (!access(tensor_of(e), e.args)) return false;
                continue;
            }
            const bool used =
                e.op == Op::Var &&
                std::ranges::find(vars_, make_id<VarId>(static_cast<size_t>(e.integer))) !=
                    vars_.end();
            if (used) return false;
            work.insert(work.end(), e.args.begin(), e.args.end());
        }
        return true;
    }

    const Stage& stage_;
    const StagePool& pool_;
    const BufferViews& places_;
    std::vector<VarId> vars_;
    int64_t extent_ = 1;
};

}  // namespace

bool can_collapse(const Stage& stage,
                  const StagePool& pool,
                  const BufferViews& places,
                  VarId outer,
                  VarId inner,
                  int64_t inner_extent) {
    return Collapse(stage, pool, places).check(outer, inner, inner_extent);
}

WriteShape write_shape(const Stage& stage, const StageWrite& write, const StagePool& pool) {
    WriteShape result;
    result.injective = true;
    const auto fail = [&] {
        result.injective = false;
        return result;
    };
    for (const ExprId index : write.index) {
        if (pool[index].op == Op::Constant) continue;
        const auto affine = pool.affine(index);
        if (!affine) return fail();
        std::vector<AddressTerm> terms = affine->terms;
        std::erase_if(terms, [&](const AddressTerm& term) {
            return std::ranges::find(stage.loops, term.var, &StageLoop::var) == stage.loops.end();
        });
        std::ranges::sort(terms, {}, [](const AddressTerm& t) { return std::abs(t.factor); });
        int64_t reach = 0;  // of the smaller terms together
        for (const AddressTerm& term : terms) {
            if (std::abs(term.factor) <= reach) return fail();
            reach += std::abs(term.factor) * (pool.extent(term.var) - 1);
            if (std::ranges::find(result.vars, term.var) != result.vars.end()) continue;
            result.vars.push_back(term.var);
        }
    }
    std::ranges::sort(result.vars);
    return result;
}

}  // namespace lemma::loop
