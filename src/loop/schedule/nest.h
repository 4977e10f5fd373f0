// SPDX-License-Identifier: Apache-2.0
// loop/schedule/nest.h — the parts of kernels of plain loops: the loops of a stage and the choice
// of lanes, loops over elements, and the steps for an element.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "loop/schedule/lowering.h"
#include "loop/schedule/pieces.h"
#include "loop/schedule/schedule.h"

namespace lemma::loop {

struct NestLoop {
    VarId var;
    int64_t extent;
    bool reduction = false;
    ExprId end = {};  // of the stage: a run-time extent of at most `extent`
};
// The loops of a stage, outermost first.
struct NestShape {
    std::vector<NestLoop> outputs;
    std::vector<NestLoop> reductions;
    VarId lane;  // missing: scalar code
    bool lane_reduces = false;
};

// Of the loop along the lanes; 0 without lanes.
inline int64_t steps_in_lanes(const NestShape& shape) {
    if (!shape.lane.valid()) return 0;
    return (shape.lane_reduces ? shape.reductions : shape.outputs).back().extent;
}

inline bool accumulates(const Stage& stage) {
    return stage.combine != ir::FormulaOp::Assign && stage.combine != ir::FormulaOp::Update;
}

// The operation by which a step changes its element.
Op combining_op(ir::FormulaOp op);
// The same for all lanes of a vector.
Op lanes_op(ir::FormulaOp op);

// Whether steps that write different elements may run in any order.
bool any_order(const Stage& stage, const StagePool& pool);

// The inputs of scheduling a stage.
struct NestContext {
    const Stage& stage;
    StagePool& pool;
    const BufferViews& places;
    const Target& target;
    const DynamicShape* run_time = nullptr;  // of a stage with run-time extents

    int64_t stride(ir::TensorId tensor, const std::vector<ExprId>& index, VarId var) const {
        return stride_of(pool, places.at(tensor), index, var);
    }
};

// ---- nest_shape.cpp -----------------------------------------------------------------------------

// All loops except the given outer ones, whose variables are already bound.
NestShape find_loops(const NestContext& context, const std::vector<VarId>& given);
// Neighbouring elements of the result become neighbouring steps.
void order_as_memory(const NestContext& context, NestShape& shape);
// Collapses loops whose steps continue evenly into one, and binds the variables of the outer ones.
void collapse(const NestContext& context, NestShape& shape, Lowering& lower);
// The cost of a step with vectors along the variable; strides other than 1 are expensive.
double lane_cost(const NestContext& context, const NestShape& shape, const NestLoop& loop);
// Chooses the cheapest variable for the lanes and makes it the innermost. Returns the cost of a
// step.
double choose_lanes(const NestContext& context, NestShape& shape);

// ---- nest_loops.cpp -----------------------------------------------------------------------------

using NestBody = std::function<void(Block&)>;

// Runs the body where the condition holds, which may be a constant.
void when(ExprId condition, Builder& build, Block& out, const NestBody& body);
// The number of steps of the loop.
inline ExprId steps_of(const NestLoop& loop, Lowering& lower) {
    return loop.end.valid() ? lower.value(loop.end) : lower.build.integer(loop.extent);
}
// Binds the variable to the lanes, from step `first` on.
void bind_lanes(VarId var, ExprId first, Lowering& lower, Block& out);

// A range of steps of the loop along the lanes. `inside`: no guard on its variable can fail.
struct LanePart {
    int64_t begin, end;
    bool inside = false;
    const LoopPiece* piece = nullptr;  // has the stage of these steps
};
// Border, inside, border; or nothing if that does not pay.
std::vector<LanePart> split_lanes(const NestContext& context, const NestShape& shape);
// The parts for these pieces of the loop along the lanes.
std::vector<LanePart> parts_of(const std::vector<LoopPiece>& pieces);

// Loops with steps in any order, in a kernel or a part of one.
class NestLoops {
public:
    NestLoops(std::vector<NestLoop> loops,
              VarId lane,
              const Target& target,
              ScheduledKernel& result,
              Lowering& lower)
        : loops_(std::move(loops)),
          lane_(lane),
          target_(target),
          result_(result),
          lower_(lower),
          build_(lower.build) {}

    // A whole kernel with `work` steps: the outermost loops become items, enough for all threads
    // and each of them long enough.
    void as_items(int64_t work, Block& out, const NestBody& body);
    // A whole kernel for a device: an item, or a group of `group` items, for each element.
    void as_threads(int64_t group, Block& out, const NestBody& body);
    // Gives the outermost loops their steps in the element of that number.
    void bind_items(ExprId element, size_t loops, Block& out);
    // A whole kernel with run-time extents: an item does `piece` steps of the outermost loop.
    void as_pieces(ExprId piece, Block& out, const NestBody& body);
    void all(Block& out, const NestBody& body) { from(0, out, body); }
    // Whole vectors of one loop, then a masked vector for the rest.
    void in_lanes(const NestLoop& loop, bool outermost, Block& out, const NestBody& body);

    bool copied = false;          // short scalar steps are unrolled
    int64_t together = 1;         // steps of the innermost loop that the body may do at once
    bool grouped = false;         // it must: the variable is that of the first of them
    std::vector<LanePart> parts;  // of the loop along the lanes; empty: one part
    std::function<void(const LanePart&)> on_part;

private:
    int64_t cut_outermost(int64_t work);
    bool is_cut(bool outermost) const { return outermost && piece_.valid(); }
    For whole_loop(VarId var, ExprId steps, bool outermost);
    ExprId is_last_item(ExprId steps);
    void from(size_t depth, Block& out, const NestBody& body);
    bool can_group(const NestLoop& loop, bool outermost) const;
    void part_in_lanes(const NestLoop& loop,
                       const LanePart& part,
                       bool outermost,
                       Block& out,
                       const NestBody& body);

    std::vector<NestLoop> loops_;
    VarId lane_;
    const Target& target_;
    ScheduledKernel& result_;
    Lowering& lower_;
    Builder& build_;
    ExprId piece_;  // steps of the outermost loop in an item; missing: all
};

// ---- nest_steps.cpp -----------------------------------------------------------------------------

// The condition under which a step fails, because a needed index is outside its tensor. Missing:
// never.
class Faults {
public:
    Faults(StagePool& pool, const BufferViews& places) : pool_(pool), places_(places) {}

    ExprId of(ExprId id);
    ExprId outside(ir::TensorId tensor, const std::vector<ExprId>& index);
    ExprId either(ExprId a, ExprId b);

private:
    StagePool& pool_;
    const BufferViews& places_;
    std::unordered_map<ExprId, ExprId, IdHash> known_;
};

// A reduction whose steps `threads` items of a group share: each takes every n-th, for n items.
struct SharedSum {
    VarId var;     // of the reduction
    VarId thread;  // the number of the item among those that share an element
    int64_t threads = 1;
    // Of elements side by side, one for each item of a warp: the number of the item in its warp.
    // Missing: neighbours share an element.
    VarId column;
    ExprId inside;  // whether there is such an element; may be missing
};

// The steps for an element, inside the loops over elements.
class NestSteps {
public:
    NestSteps(const NestContext& context,
              const NestShape& shape,
              ScheduledKernel& result,
              Lowering& lower);

    // Reports sizes of indices whose arithmetic would wrap around: they could name wrong elements.
    void check_sizes(Block& out);
    // From now on, the steps are those of the part.
    void set_part(const LanePart& part) {
        inside_ = part.inside;
        stage_ = part.piece ? &part.piece->stage : whole_stage_;
    }
    // From now on several items share the steps of the reduction. All arguments must be there.
    void share(const SharedSum& shared) { shared_ = shared; }
    // The buffers of all tensors, before memory of a group.
    void add_arguments();
    // Whether an index may leave its tensor.
    bool may_fail() { return step_fault().valid(); }
    ExprId holds(const StageGuard& guard);
    // Stores an element of a reduction, without its initial value so far.
    void store_total(ExprId sum, Block& out);
    // Reductions of so many steps without guards have no loops from now on.
    void copies_taps(int64_t most = 16) { most_copies_ = most; }
    // Whether all guards are known to hold from now on.
    void set_unguarded(bool unguarded) { unguarded_ = unguarded; }
    // The loops in the order of the formula, one step at a time.
    // Loops that are already bound are left out.
    void sequential(Block& out, const std::vector<VarId>& bound = {});
    void element(Block& out);
    // One element of a reduction, from its initial value to the stored value.
    ExprId total(const std::vector<StageGuard>& guards, Block& out);
    // The parts of that: where a total begins, what changes no total, and its stored value.
    ExprId starting_value();
    ExprId neutral(Type type);
    ExprId finished(ExprId total, Block& out);

private:
    // One step of the formula; `in_order`: it accumulates in the tensor.
    void write_all(bool in_order, Block& out);
    void store(const StageWrite& write, ExprId value, Block& out);
    void total_and_store(const std::vector<StageGuard>& guards, Block& out);
    ExprId sum_up(const std::vector<StageGuard>& guards, Block& out);
    ExprId over_group(ExprId part, Block& out);
    ExprId over_columns(ExprId part, Block& out);
    // Several sums take turns, so that a step need not wait for the previous one.
    using Sums = std::vector<LocalId>;
    void reductions(size_t depth, std::vector<StageGuard> guards, const Sums& sums, Block& out);
    void in_lanes(const NestLoop& loop,
                  const std::vector<StageGuard>& guards,
                  const Sums& sums,
                  Block& out);
    // Adds the vectors from one number to another to the sums, in turn.
    using AddVectors = std::function<void(ExprId, ExprId, const Sums&, Block&)>;
    bool adds_wide_floats(const Sums& sums);
    void in_sections(ExprId end, const Sums& sums, Block& out, const AddVectors& add);
    bool is_copied(size_t depth, const std::vector<StageGuard>& guards) const;
    size_t count_sums() const;
    ExprId all_of(const Sums& sums);
    void accumulate(LocalId sum, Block& out);
    void add(LocalId sum, Block& out);
    // Skips steps where guards fail; guards that differ between lanes narrow the mask.
    void guarded(const std::vector<StageGuard>& guards, Block& out, const NestBody& body);
    // The same for the condition.
    void on_condition(Block& out, const NestBody& body);
    void where(ExprId condition, Block& out, const NestBody& body);
    ExprId extent_of_guard(const StageGuard& guard);
    std::vector<StageGuard> active_guards() const;
    BufferId flag();  // receives faults
    void report(ExprId fault, Block& out);
    ExprId step_fault();
    void report_faults(Block& out);

    const Stage* whole_stage_;
    const Stage* stage_;  // of the part
    StagePool& pool_;
    const BufferViews& places_;
    const Target& target_;
    const NestShape& shape_;
    ScheduledKernel& result_;
    Lowering& lower_;
    Builder& build_;
    Faults faults_;
    BufferId flag_;
    bool inside_ = false;
    std::optional<SharedSum> shared_;
    int64_t most_copies_ = 0;
    bool unguarded_ = false;
    bool fresh_ = false;  // the sum has its neutral value
};

// ---- device.cpp ---------------------------------------------------------------------------------

// Whether a device can run the stage: its elements are independent, and it needs no library.
bool is_for_device(const Stage& stage, const StagePool& pool);
// The loops of a kernel for a device. `piece` is the number of steps of an item, with run-time
// extents.
void schedule_threads(const NestContext& context,
                      const NestShape& shape,
                      NestSteps& steps,
                      ScheduledKernel& result,
                      Lowering& lower,
                      ExprId piece);
inline constexpr int64_t kDeviceGroup = 256;     // items of a group, one for each element
inline constexpr int64_t kDeviceLoopGroup = 64;  // with run-time extents, where items are few

// ---- schedule_transposed.cpp --------------------------------------------------------------------

// The kernel of a map that transposes an operand; nothing for other maps.
std::optional<ScheduledKernel> schedule_transposed(const NestContext& context);

// ---- schedule_interleaved.cpp -------------------------------------------------------------------

// The kernel of a map that interleaves rows of its operands; nothing for other maps.
std::optional<ScheduledKernel> schedule_interleaved(const NestContext& context);

}  // namespace lemma::loop
