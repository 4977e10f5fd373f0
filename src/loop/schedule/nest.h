// loop/schedule/nest.h — the parts of kernels of plain loops: which loops a stage has and which of
// them runs along the lanes, loops over what is written, and what is done in a step.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "loop/schedule/lowering.h"
#include "loop/schedule/schedule.h"

namespace lemma::loop {

struct NestLoop {
    VarId var;
    int64_t extent;
    bool reduction = false;
    ExprId end = {};  // of the stage: a run-time extent, which is at most `extent`
};
// The loops of a stage, outermost first.
struct NestShape {
    std::vector<NestLoop> outputs;
    std::vector<NestLoop> reductions;
    VarId lane;  // missing: scalar code
    bool lane_reduces = false;
};

inline bool accumulates(const Stage& stage) {
    return stage.combine != ir::FormulaOp::Assign && stage.combine != ir::FormulaOp::Update;
}

// Whether steps that write different elements may run in any order.
bool any_order(const Stage& stage, const StagePool& pool);

// What a stage is scheduled with.
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

// All loops but the given ones, which are outside and have their values already.
NestShape find_loops(const NestContext& context, const std::vector<VarId>& given);
// Loops whose steps go on evenly become one; the variables of the outer ones are bound.
void collapse(const NestContext& context, NestShape& shape, Lowering& lower);
// What a step costs with vectors along the variable; memory in other than unit strides is dear.
double lane_cost(const NestContext& context, const NestShape& shape, const NestLoop& loop);
// The one that costs least, made the innermost. Returns what a step costs then.
double choose_lanes(const NestContext& context, NestShape& shape);

// ---- nest_loops.cpp -----------------------------------------------------------------------------

using NestBody = std::function<void(Block&)>;

// Where the condition holds, which may be known already.
void when(ExprId condition, Builder& build, Block& out, const NestBody& body);
// How many steps the loop has.
inline ExprId steps_of(const NestLoop& loop, Lowering& lower) {
    return loop.end.valid() ? lower.value(loop.end) : lower.build.integer(loop.extent);
}
// Binds the variable to the lanes from a first step on.
void bind_lanes(VarId var, ExprId first, Lowering& lower, Block& out);

// Some steps of the loop along the lanes. Inside, no guard can fail that is about its variable.
struct LanePart {
    int64_t begin, end;
    bool inside = false;
};
// Border, inside, border; or nothing, where that does not pay.
std::vector<LanePart> split_lanes(const NestContext& context, const NestShape& shape);

// Loops in which steps may run in any order, in a kernel or a part of one.
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

    // As a whole kernel of so many steps: the outermost loops become items, as many as threads can
    // share and as few as keep them long.
    void as_items(int64_t work, Block& out, const NestBody& body);
    // As a whole kernel whose items do so many steps of the outermost loop, as the run tells.
    void as_pieces(ExprId piece, Block& out, const NestBody& body);
    void all(Block& out, const NestBody& body) { from(0, out, body); }
    // Whole vectors of one loop, then what is left in a masked one.
    void in_lanes(const NestLoop& loop, bool outermost, Block& out, const NestBody& body);

    bool copied = false;          // short scalar steps are laid out one behind the other
    std::vector<LanePart> parts;  // of the loop along the lanes; empty: it is one
    std::function<void(const LanePart&)> on_part;

private:
    int64_t cut_outermost(int64_t work);
    bool is_cut(bool outermost) const { return outermost && piece_.valid(); }
    For whole_loop(VarId var, ExprId steps, bool outermost);
    ExprId is_last_item(ExprId steps);
    void from(size_t depth, Block& out, const NestBody& body);
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
    ExprId piece_;  // steps of the outermost loop that an item does; missing: all of them
};

// ---- nest_steps.cpp -----------------------------------------------------------------------------

// When a step fails: an index that is needed is outside of its tensor. Missing: never.
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

// What is done for an element, inside of the loops over elements.
class NestSteps {
public:
    NestSteps(const NestContext& context,
              const NestShape& shape,
              ScheduledKernel& result,
              Lowering& lower);

    // Reports sizes of indices whose arithmetic would wrap around: those may name other elements
    // than the ones that are meant.
    void check_sizes(Block& out);
    // Guards about the variable along the lanes are left out from now on, or not.
    void set_inside(bool inside) { inside_ = inside; }
    // The loops as the formula has them, one step at a time.
    void sequential(Block& out);
    void element(Block& out);
    // One element of a reduction, from its start to what is to be stored.
    ExprId total(const std::vector<StageGuard>& guards, Block& out);

private:
    // One step of the formula; in order, it adds to what the tensor holds.
    void write_all(bool in_order, Block& out);
    void store(const StageWrite& write, ExprId value, Block& out);
    void total_and_store(const std::vector<StageGuard>& guards, Block& out);
    // Several sums take turns, so that one step need not wait for the one before.
    using Sums = std::vector<LocalId>;
    void reductions(size_t depth, std::vector<StageGuard> guards, const Sums& sums, Block& out);
    void in_lanes(const NestLoop& loop,
                  const std::vector<StageGuard>& guards,
                  const Sums& sums,
                  Block& out);
    size_t count_sums() const;
    ExprId all_of(const Sums& sums);
    void accumulate(LocalId sum, Block& out);
    void add(LocalId sum, Block& out);
    // Skips where guards do not hold; those that differ from lane to lane narrow the mask.
    void guarded(const std::vector<StageGuard>& guards, Block& out, const NestBody& body);
    // Skips where the condition does not hold, likewise.
    void on_condition(Block& out, const NestBody& body);
    void where(ExprId condition, Block& out, const NestBody& body);
    ExprId extent_of_guard(const StageGuard& guard);
    ExprId holds(const StageGuard& guard);
    std::vector<StageGuard> active_guards() const;
    BufferId flag();  // where faults are noted
    void report(ExprId fault, Block& out);
    void report_faults(Block& out);
    ExprId starting_value();
    ExprId neutral(Type type);

    const Stage& stage_;
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
};

// ---- schedule_transposed.cpp --------------------------------------------------------------------

// Of a map that turns an operand; nothing if it does not.
std::optional<ScheduledKernel> schedule_transposed(const NestContext& context);

}  // namespace lemma::loop
