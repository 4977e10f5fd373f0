// loop/schedule/schedule.h — from a stage to a kernel: the order of loops, which of them become
// lanes of vectors, and which steps may run in parallel.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loop/ir/layout.h"
#include "loop/schedule/run_items.h"
#include "loop/stage/stage.h"

namespace lemma::loop {

struct ScheduledKernel {
    Function function;
    // What its buffers are, in order. One that is no storage is an i64 that starts as 0, and is set
    // to 1 where an index leaves its tensor.
    std::vector<StorageId> arguments;
    std::string schedule;  // in a few words, for profiles
    RunItems run_items;    // of a kernel with run-time extents
    // The same with a tile of the n-th smaller size, if there is one, for when it turns out that
    // registers are too few: the same arguments, and sums in the same order. May be missing; for
    // one thread at a time.
    std::function<std::optional<ScheduledKernel>(int n)> narrower;
};

struct DynamicShape;  // loop/stage/dynamic.h

// Plain loops with vector lanes where the elements allow. Any stage has such a form. A stage with
// run-time extents comes with what the kernel is told of them.
ScheduledKernel schedule_nest(const Stage& stage,
                              StagePool& pool,
                              const BufferViews& places,
                              const Target& target,
                              const DynamicShape* run_time = nullptr);

// Stages of one kernel that does all of them for a row, then for the next. Each of them is a map
// along the row, or makes one number of each.
struct RowGroup {
    std::vector<StageLoop> loops;  // of all stages, with the same variables
    BufferViews numbers;           // those that no other kernel needs: they have no storage
};
inline bool makes_number(const Stage& stage, const RowGroup& rows) {
    return stage.initial.valid() || stage.loops.size() == rows.loops.size();
}
ScheduledKernel schedule_rows(const std::vector<Stage>& stages,
                              const RowGroup& rows,
                              StagePool& pool,
                              const BufferViews& places,
                              const Target& target);

// A sum O[…] = sum(f(A[…], B[…])), mostly of products, and which of its variables do what. A is an
// element of a tensor, B any value without it; B is packed in the order in which the kernel walks
// it, and comes as a tensor of its own.
struct Contraction {
    ExprId a, b;          // parts of the stage's value
    bool product = true;  // the value is a * b
    // The value is the square of a - b, and this the sum of the squares of both over all steps: the
    // sum of their products tells the total then, up to the last places of this. If these are not
    // to be trusted, totals that are small beside it are added up as they are written.
    ExprId squares;
    bool trusts_squares = false;
    VarId lane;                  // along the vectors: of O and B, or of all three
    bool lane_in_a = false;      // then A is read in vectors, else one element for all lanes
    std::vector<VarId> points;   // of O and A, outermost first
    std::vector<VarId> batch;    // of O and B, and maybe A
    std::vector<VarId> reduced;  // of A and B, outermost first
    // How it is tiled: `vectors` of lanes times rows * columns of points are kept in registers.
    int64_t vectors = 1, rows = 1, columns = 1;
    int64_t blocks = 1;   // of `vectors` vectors along the lane variable
    ir::TensorId packed;  // [batch of B…, blocks, reduced…, vectors * lanes]
    std::vector<VarId> packed_batch;
    // A long sum is cut into parts, so that what a part takes of a panel stays in the cache while
    // all points of an item go through it: variables before this one run outside of the tiles, and
    // this one in parts of so many steps; none: not cut. In between, totals are where results will
    // be.
    size_t cut = 0;
    int64_t cut_steps = 0;
    bool weights_inside = false;  // all blocks for one row of points, rather than all rows for one
    bool batch_inside = false;    // so are all batches
};

// Puts the variables in the order in which they are walked, and chooses the tile.
void choose_tile(const Stage& stage,
                 StagePool& pool,
                 const BufferViews& places,
                 const Target& target,
                 Contraction& contraction);
// Chooses a tile of fewer points instead; false if there is none.
bool narrow_tile(const Stage& stage,
                 const StagePool& pool,
                 const BufferViews& places,
                 const Target& target,
                 Contraction& contraction);
ScheduledKernel schedule_contraction(const Stage& stage,
                                     const Contraction& contraction,
                                     StagePool& pool,
                                     const BufferViews& places,
                                     const Target& target);

// Lets the kernel have narrower forms. They need the pool when planning is over.
void offer_narrower(ScheduledKernel& kernel,
                    const Stage& stage,
                    const Contraction& contraction,
                    std::shared_ptr<StagePool> pool,
                    const BufferViews& places,
                    const Target& target);

// Whether the index is known to be inside of the axis, and if not, how far that goes.
bool is_inside(const StagePool& pool, const BufferView& place, size_t axis, ExprId index);
ExprId extent_of(StagePool& pool, const BufferView& place, size_t axis);
// By how many elements an access moves when the variable grows by one; INT64_MAX: not evenly, or
// only the run tells.
int64_t stride_of(const StagePool& pool,
                  const BufferView& place,
                  const std::vector<ExprId>& index,
                  VarId var);
// Whether two loops can be one: every element's address goes on in the same steps.
bool can_collapse(const Stage& stage,
                  const StagePool& pool,
                  const BufferViews& places,
                  VarId outer,
                  VarId inner,
                  int64_t inner_extent);

// Whether no two steps with different values of the variables in the write's index write the same
// element; the variables are told.
struct WriteShape {
    bool injective = false;
    std::vector<VarId> vars;
};
WriteShape write_shape(const Stage& stage, const StageWrite& write, const StagePool& pool);

}  // namespace lemma::loop
