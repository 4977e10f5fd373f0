// loop/stage/stage.h — a formula whose extents are known, in the terms of the loop IR: loops,
// guards, and values that read tensors. What passes fuse, and what is scheduled into kernels.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ir/program/program.h"
#include "loop/ir/node.h"
#include "tensor/shape.h"

namespace lemma::loop {

struct StageLoop {
    VarId var;
    int64_t extent;  // at most, if the pool has an end for the variable
};
// Steps in which the index is not in [0, extent) are skipped.
struct StageGuard {
    ExprId index;
    int64_t extent;
    ExprId end = {};  // a run-time extent (dynamic.h), which is at most `extent`
};
struct StageWrite {
    ir::TensorId tensor;
    std::vector<ExprId> index;
    ExprId value;
};
// A variable that counts the elements of an axis, where the formula counts steps of which each
// writes an element: element factor * position + tap_factor * tap + offset. Steps in which the
// position is no whole number do not count.
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
    // Of a reduction: what an element starts with, over the variables of the write's index. If it
    // is missing, it starts with what the tensor holds.
    ExprId initial;
    // Of a reduction with a start: what is stored, made from the total; `total` stands for it in
    // there. If it is missing, the total itself is stored.
    ExprId finish;
    ExprId total;
    std::vector<StageInverse> inverses;  // none behind the pass that splits such stages
    // Of a stage with run-time extents: reals that tell how far the arithmetic of indices goes, and
    // that must be less than kMostIndex (index_fit.h).
    std::vector<ExprId> sizes;
    // Of a reduction with a start: the element that each step assigns besides, at an index of all
    // variables.
    std::optional<StageWrite> kept;
};

// Calls visit with each expression that a step of the stage computes: what is read is part of one
// of them. `AnyStage` is a Stage, whose expressions may be replaced, or a const one.
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
}

// With each expression: also what stands for the total, the ends of guards, the positions of
// inverses and the sizes. Whoever renames variables must see them all.
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

// Each element that it writes, it assigns; in all of its steps.
inline bool is_plain(const Stage& stage) {
    return stage.combine == ir::FormulaOp::Assign && stage.writes.size() == 1 && !stage.empty &&
           stage.guards.empty() && !stage.condition.valid();
}

// The tensor of a Read.
inline ir::TensorId tensor_of(const Expr& read) {
    return make_id<ir::TensorId>(static_cast<size_t>(read.integer));
}

// Takes many times as long as a sum or a product.
inline bool is_dear(const Expr& e) {
    return e.op == Op::Library || e.op == Op::Sqrt || e.op == Op::Pow ||
           (e.op == Op::Div && e.type.real());
}

using Shapes = std::unordered_map<ir::TensorId, tensor::Shape, IdHash>;
using KnownExtents = std::unordered_map<ir::SymId, int64_t, IdHash>;  // extents that are symbols

// Expressions of all stages of a program, and how far each variable counts.
class StagePool {
public:
    StagePool() : build(function_) {}
    StagePool(const StagePool&) = delete;

    // Values and sums are those of the interpreter to the last bit (numerics.h).
    bool strict = false;

    // A variable of a loop with a run-time extent has that as its end, and counts below both.
    VarId new_var(int64_t extent, ExprId end = {});
    int64_t extent(VarId var) const { return extents_[var.value]; }
    ExprId end(VarId var) const { return ends_[var.value]; }  // missing: the extent
    const Expr& operator[](ExprId id) const { return function_.exprs[id.value]; }

    // As an address without a buffer, if it is affine in the variables, and its terms are not so
    // large that arithmetic on them could overflow.
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
    // Whether the other expression is a part of it.
    bool has_part(ExprId id, ExprId part) const;
    // With other expressions in place of variables.
    ExprId substitute(ExprId id, const std::unordered_map<VarId, ExprId, IdHash>& with);
    // With another expression in place of one.
    ExprId replace(ExprId id, ExprId from, ExprId to);
    // Calls `visit` once with each read that the value needs, those in indices too.
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

// Extents in the formula must be constants, or known; or the run tells them, and what it has to
// tell is noted there. An error where the engine has no way to compute the formula, which the
// interpreter has.
Result<Stage> make_stage(const ir::Program& program,
                         const ir::Formula& formula,
                         const KnownExtents& known,
                         const Shapes& shapes,
                         StagePool& pool,
                         DynamicShape* run_time = nullptr);

// The value of an extent.
std::optional<int64_t> evaluate(const ir::SymbolPool& symbols,
                                ir::SymId id,
                                const KnownExtents& known);

}  // namespace lemma::loop
