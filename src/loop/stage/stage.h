// SPDX-License-Identifier: Apache-2.0
// loop/stage/stage.h — a formula in terms of the loop IR: loops, guards, and values that read
// tensors. Passes fuse stages, and the scheduler turns them into kernels.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ir/program/accumulate.h"
#include "ir/program/program.h"
#include "loop/ir/node.h"
#include "tensor/shape.h"

namespace lemma::loop {

struct StageLoop {
    VarId var;
    int64_t extent;  // upper bound, if the pool has an end for the variable
};
// Steps with an index outside [0, extent) are skipped.
struct StageGuard {
    ExprId index;
    int64_t extent;
    ExprId end = {};  // a run-time extent (dynamic.h) of at most `extent`
};
struct StageWrite {
    ir::TensorId tensor;
    std::vector<ExprId> index;
    ExprId value;
};
// A variable that counts the elements of an axis, where the formula counts steps that each write
// element factor * position + tap_factor * tap + offset. Steps without a whole position do not
// count.
struct StageInverse {
    VarId output;
    VarId tap;  // may be missing
    int64_t factor = 1, tap_factor = 0, offset = 0;
    ExprId position;
};
struct Stage {
    ir::FormulaOp combine{};
    std::vector<StageLoop> loops;  // in the order of the formula; none has extent 1
    bool empty = false;            // a loop has no steps
    std::vector<StageGuard> guards;
    ExprId condition;  // may be missing
    std::vector<StageWrite> writes;
    // Of a reduction: the initial value, over the variables of the write's index. If it is missing,
    // the tensor holds the initial value.
    ExprId initial;
    // Of a reduction with an initial value: the stored value (epilogue), in which `total` stands
    // for the total. If it is missing, the total itself is stored.
    ExprId finish;
    ExprId total;
    // Of a sum of integers: its total, with the initial value, is known to fit 32 bits.
    bool narrow_total = false;
    std::vector<StageInverse> inverses;  // none after the split pass
    // Of a stage with run-time extents: reals that bound the arithmetic of indices; each must be
    // less than kMostIndex (index_fit.h).
    std::vector<ExprId> sizes;
    // Of a reduction with an initial value: an element that each step also assigns, at an index of
    // all variables.
    std::optional<StageWrite> kept;
    // Of a contraction with a finish: further elements that are assigned with each result. Their
    // values are expressions of the total (terms.h).
    std::vector<StageWrite> also;
};

// Calls `visit` with each expression that a step of the stage computes; every read is part of one.
// With a Stage that is not const, `visit` may replace the expressions.
template <class AnyStage, class Visit>
void for_each_value(AnyStage& stage, Visit&& visit) {
    const auto one = [&](auto& id) {
        if (id.valid()) visit(id);
    };
    const auto write = [&](auto& to) {
        one(to.value);
        for (auto& index : to.index) one(index);
    };
    for (auto& to : stage.writes) write(to);
    for (auto& guard : stage.guards) one(guard.index);
    one(stage.condition);
    one(stage.initial);
    one(stage.finish);
    if (stage.kept) write(*stage.kept);
    for (auto& to : stage.also) write(to);
}

// Calls `visit` with every expression: also the total, the ends of guards, the positions of
// inverses and the sizes. Renaming variables must visit them all.
template <class AnyStage, class Visit>
void for_each_expr(AnyStage& stage, Visit&& visit) {
    const auto one = [&](auto& id) {
        if (id.valid()) visit(id);
    };
    for_each_value(stage, visit);
    one(stage.total);
    for (auto& guard : stage.guards) one(guard.end);
    for (auto& inverse : stage.inverses) one(inverse.position);
    for (auto& size : stage.sizes) one(size);
}

// Whether every step assigns one element, without guards or a condition.
inline bool is_plain(const Stage& stage) {
    return stage.combine == ir::FormulaOp::Assign && stage.writes.size() == 1 && !stage.empty &&
           stage.guards.empty() && !stage.condition.valid();
}

// The tensor of a Read.
inline ir::TensorId tensor_of(const Expr& read) {
    return make_id<ir::TensorId>(static_cast<size_t>(read.integer));
}

// Whether the operation takes many times as long as a sum or a product.
inline bool is_expensive(const Expr& e) {
    return e.op == Op::Library || e.op == Op::Sqrt || e.op == Op::Pow ||
           (e.op == Op::Div && e.type.real());
}

using Shapes = std::unordered_map<ir::TensorId, tensor::Shape, IdHash>;
using KnownExtents = std::unordered_map<ir::SymId, int64_t, IdHash>;  // values of symbols

// The expressions of all stages of a region, and the extents of their variables.
class StagePool {
public:
    StagePool() : build(function_) {}
    StagePool(const StagePool&) = delete;

    // Values and sums equal those of the interpreter bit by bit (numerics.h).
    bool strict = false;
    // With `strict`: the precision of formulas. With F32, reals of a stage have the kind F32, and a
    // library function is computed in double and then rounded.
    ir::Accumulate accumulate = ir::Accumulate::F64;
    // Powers of integers are Op::Pow; kernels do not have it.
    bool integer_powers = false;

    // A variable of a loop. `end` is its run-time extent, if it has one; the variable stays below
    // both.
    VarId new_var(int64_t extent, ExprId end = {});
    int64_t extent(VarId var) const { return extents_[var.value]; }
    ExprId end(VarId var) const { return ends_[var.value]; }  // missing: the extent
    const Expr& operator[](ExprId id) const { return function_.exprs[id.value]; }

    // The expression as an address without a buffer, if it is affine in the variables and
    // arithmetic on its terms cannot overflow.
    std::optional<Address> affine(ExprId id) const;
    struct Range {
        int64_t low, high;
    };
    Range range(ExprId id) const;
    // Whether the index is known to be in [0, extent), which may be a run-time extent.
    bool is_inside(ExprId index, ExprId extent) const;
    // Whether the value depends on the variable.
    bool depends(ExprId id, VarId var) const;
    bool depends_on_any(ExprId id, const std::vector<VarId>& vars) const;
    // Whether `part` occurs in the expression.
    bool has_part(ExprId id, ExprId part) const;
    // The expression with variables replaced.
    ExprId substitute(ExprId id, const std::unordered_map<VarId, ExprId, IdHash>& with);
    // The expression with `from` replaced by `to`.
    ExprId replace(ExprId id, ExprId from, ExprId to);
    // The expression without comparisons, minima and maxima of integers that ranges decide.
    ExprId simplify(ExprId id);
    // Calls `visit` once with each read of the value, including those in indices.
    template <class Visit>
    void visit_reads(ExprId id, Visit&& visit) const {
        std::vector<ExprId> work = {id};
        std::unordered_map<ExprId, bool, IdHash> seen;
        while (!work.empty()) {
            const ExprId at = work.back();
            work.pop_back();
            if (!at.valid() || !seen.emplace(at, true).second) continue;
            const Expr& e = (*this)[at];
            if (e.op == Op::Read) visit(at, e);
            work.insert(work.end(), e.args.begin(), e.args.end());
        }
    }

private:
    std::optional<Address> any_affine(ExprId id) const;

    Function function_;
    std::vector<int64_t> extents_;
    std::vector<ExprId> ends_;

public:
    Builder build;
};

struct DynamicShape;  // dynamic.h

// Makes the stage of a formula. Its extents are constants, known, or run-time extents, which
// `run_time` then lists. Returns an error if the engine does not support the formula; the
// interpreter does.
Result<Stage> make_stage(const ir::Program& program,
                         const ir::Formula& formula,
                         const KnownExtents& known,
                         const Shapes& shapes,
                         StagePool& pool,
                         DynamicShape* run_time = nullptr);

// The value of an extent; nothing if it is unknown.
std::optional<int64_t> evaluate(const ir::SymbolPool& symbols,
                                ir::SymId id,
                                const KnownExtents& known);

}  // namespace lemma::loop
