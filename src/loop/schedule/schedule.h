// SPDX-License-Identifier: Apache-2.0
// loop/schedule/schedule.h — from a stage to a kernel: the order of loops, the loops that become
// lanes of vectors, and the steps that may run in parallel.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loop/ir/layout.h"
#include "loop/schedule/run_items.h"
#include "loop/schedule/window_items.h"
#include "loop/stage/stage.h"

namespace lemma::loop {

struct ScheduledKernel {
    Function function;
    // The storages of its buffers, in order. A missing one is an i64 with initial value 0; the
    // kernel sets it to 1 if an index leaves its tensor.
    std::vector<StorageId> arguments;
    std::string schedule;  // in a few words, for profiles
    RunItems run_items;    // of a kernel with run-time extents
    // Of a sum over windows for any number of threads: calls pass the numbers of cut_items in one
    // more buffer, of i64, and the kernel has as many items as that says.
    std::optional<WindowItems> windows;
    // Kernels that share code (share.h): the bytes to add to the address of each buffer, and the
    // numbers in one more buffer, of i64. Empty: none.
    std::vector<int64_t> offsets;
    std::vector<int64_t> numbers;
    // The same kernel with a tile of the n-th smaller size, if there is one, in case registers are
    // too few. It has the same arguments and the same order of sums. May be missing; for one thread
    // at a time.
    std::function<std::optional<ScheduledKernel>(int n)> narrower;
};

struct DynamicShape;  // loop/stage/dynamic.h

// Plain loops with vector lanes where the elements allow it. Every stage can be scheduled so. A
// stage with run-time extents comes with its shape arguments.
ScheduledKernel schedule_nest(const Stage& stage,
                              StagePool& pool,
                              const BufferViews& places,
                              const Target& target,
                              const DynamicShape* run_time = nullptr);

// Stages of one kernel that runs all of them for one row, then for the next. Each stage is a map
// along the row, or computes one number per row.
struct RowGroup {
    std::vector<StageLoop> loops;  // of all stages, with the same variables
    BufferViews numbers;           // row results that no other kernel needs: no storage
};
inline bool makes_number(const Stage& stage, const RowGroup& rows) {
    return stage.initial.valid() || stage.loops.size() == rows.loops.size();
}
ScheduledKernel schedule_rows(const std::vector<Stage>& stages,
                              const RowGroup& rows,
                              StagePool& pool,
                              const BufferViews& places,
                              const Target& target);

// Weights that stay in few bits: B is (number - zero) * scale.
struct NarrowWeights {
    ExprId number;
    tensor::DType dtype{};       // of the packed numbers
    bool nibble = false;         // a packed byte has two numbers, half of the lanes apart
    ExprId zero, scale;          // may be missing
    VarId group;                 // the reduced variable of both, if they change along the sum
    ir::TensorId zeros, scales;  // packed: [batch of B…, blocks, groups, vectors * lanes]
};

// A sum of products over a window of three taps along one or two axes, as a few products of
// transformed tiles (Winograd's minimal filtering, winograd.h). The kernel transforms a block of
// tiles into scratch memory, multiplies there, and transforms the totals back.
struct Window {
    struct Axis {
        VarId point, tap;  // A is read at point + tap
    };
    std::vector<Axis> axes;  // outermost first
    VarId channel;           // the other summed variable
    int64_t outputs = 2;     // of a tile along each axis
    int64_t tiles = 1;       // of a block
    int64_t groups = 1;      // of blocks along the lane variable, one for each item
    ir::TensorId scratch;    // transformed tiles and their totals; each thread has its own
};

// The tile of a sum of products that a group of items computes on a device: points by lanes.
struct DeviceTile {
    int64_t rows = 64, columns = 64;
    // The part of an item; with matrix products, of a warp.
    int64_t own_rows = 4, own_columns = 4;
    int64_t section = 16;  // steps of the sum in memory of the group
    int64_t stages = 2;    // sections in memory at a time
    int64_t slices = 1;    // of a group, with sections of their own; a power of two
    std::optional<MatrixProducts> products;
    // Columns of an item that lie side by side in the result. With matrix products, an item has two
    // neighbours of each matrix. More of them are neighbours if the packed operand has its columns
    // in another order (packed_column).
    int64_t together = 2;

    // Of a slice.
    int64_t threads() const {
        return rows / own_rows * (columns / own_columns) * (products ? kWarp : 1);
    }
};
// The column of the tile at that position in a packed row of it.
ExprId packed_column(Builder& build, const DeviceTile& tile, ExprId position);

// A sum O[…] = sum(f(A[…], B[…])), mostly of products, and the roles of its variables. A is an
// element of a tensor, B any value without it. B is packed in the order of the kernel's accesses,
// and is a separate tensor; or it is an element of a tensor, too, and is read in place.
struct Contraction {
    ExprId a, b;          // parts of the stage's value
    bool product = true;  // the value is a * b
    // If the value is the square of a - b: the sum of the squares of both over all steps. The total
    // then follows from the sum of products, up to rounding errors relative to this sum. Unless
    // these are trusted, totals that are small beside it are summed again as written.
    ExprId squares;
    bool trusts_squares = false;
    VarId lane;              // along the vectors: of O and B, or of all three
    bool lane_in_a = false;  // A is read in vectors; else one element for all lanes
    bool in_place = false;   // B is read where it lies, in vectors; not packed
    // Of B in place: an item first copies its panel of B into scratch memory, where the steps lie
    // one behind the other.
    bool copies = false;
    int64_t panel_blocks = 1;  // blocks of lanes in a panel
    ir::TensorId panel;        // that memory; each thread has its own
    // If the lane variable fills one vector at most: the vectors of a tile are steps of this batch
    // variable, which A does not have. May be missing.
    VarId stacked;
    std::vector<VarId> points;   // of O and A, outermost first
    std::vector<VarId> batch;    // of O and B, and maybe A
    std::vector<VarId> reduced;  // of A and B, outermost first
    Kind kind = Kind::F32;       // of totals: F32, or I32 for products of bytes
    // The summed variable along which elements of A should lie side by side; may be missing. With
    // `group` > 1 the kernel multiplies groups of so many of them at once. `reduced` then has a
    // variable of groups instead, and A is the first element of a group.
    VarId inner;
    int64_t group = 1;
    VarId groups;  // the variable of groups
    // The tile: `vectors` of lanes times rows * columns of points stay in registers.
    int64_t vectors = 1, rows = 1, columns = 1;
    int64_t blocks = 1;   // of `vectors` vectors along the lane variable
    ir::TensorId packed;  // [batch of B…, blocks, reduced…, vectors * lanes, group]
    std::vector<VarId> packed_batch;
    std::optional<NarrowWeights> narrow;  // narrow_weights.h
    // A long sum is cut into parts, so that a part of the panel stays in the cache while all points
    // of an item use it. Reduced variables before this one run outside the tiles, and this one in
    // parts of `cut_steps` steps; 0: not cut. Totals wait in the result's memory between parts.
    size_t cut = 0;
    int64_t cut_steps = 0;
    // A and the packed operand have two terms of bf16 for each float (terms.h). A is an element of
    // the first ones; its tensor has one more axis for the terms, and so has `packed`, before the
    // lanes. Only on tile registers.
    bool terms = false;
    std::optional<DeviceTile> device;
    bool tiles = false;           // on tile registers (tiles.h): pairs of `vectors` vectors
    bool weights_inside = false;  // all blocks for some points, not all points for a block
    bool batch_inside = false;    // likewise all batches
    // If it is valid, `packed` has the transformed weights: [batch of B…, blocks, positions in a
    // tile, channel, vectors * lanes].
    std::optional<Window> window;

    // The operand that may reach over its tensor: a halo of zeros surrounds it.
    ExprId surrounded() const { return in_place ? b : a; }
};

// Orders the variables as the kernel walks them, and chooses the tile.
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

// The same for a device: the order of the summed variables, and the tile. `fast`: floats may be
// rounded for matrix products. Returns the number of parts into which the sum is better split; 1:
// none.
int64_t choose_device_tile(const StagePool& pool,
                           const BufferViews& places,
                           const Target& target,
                           bool fast,
                           Contraction& contraction);
// Whether a tile on a device is worthwhile for the sum.
bool suits_device(const Stage& stage, const StagePool& pool, const Contraction& contraction);
ScheduledKernel schedule_device_contraction(const Stage& stage,
                                            const Contraction& contraction,
                                            StagePool& pool,
                                            const BufferViews& places);

// The window of the contraction with tiles of so many outputs along each axis, if it has one.
std::optional<Window> find_window(const Stage& stage,
                                  const StagePool& pool,
                                  const Contraction& contraction,
                                  int64_t outputs);
// Chooses the blocks of a contraction with a window. Returns its cost in cycles on one thread.
double choose_window(const StagePool& pool, const Target& target, Contraction& contraction);
// The cost of the same sum without transformed tiles.
double direct_cost(const StagePool& pool, const Target& target, const Contraction& contraction);
// The cost on tile registers with two terms of bf16 for each float, without making the terms.
double terms_cost(const StagePool& pool, const Target& target, const Contraction& contraction);
// The elements of its scratch memory.
int64_t scratch_elements(const StagePool& pool, const Target& target, const Contraction& c);
ScheduledKernel schedule_window(const Stage& stage,
                                const Contraction& contraction,
                                StagePool& pool,
                                const BufferViews& places,
                                const Target& target);

// Offers narrower forms of the kernel. They need the pool after planning.
void offer_narrower(ScheduledKernel& kernel,
                    const Stage& stage,
                    const Contraction& contraction,
                    std::shared_ptr<StagePool> pool,
                    const BufferViews& places,
                    const Target& target);

// Whether the index is known to be inside the axis; and the extent of the axis.
bool is_inside(const StagePool& pool, const BufferView& place, size_t axis, ExprId index);
ExprId extent_of(StagePool& pool, const BufferView& place, size_t axis);
// The distance in elements when the variable grows by one; INT64_MAX: irregular, or known only at
// run time.
int64_t stride_of(const StagePool& pool,
                  const BufferView& place,
                  const std::vector<ExprId>& index,
                  VarId var);
// Whether two loops can become one: the addresses of all accesses continue evenly.
bool can_collapse(const Stage& stage,
                  const StagePool& pool,
                  const BufferViews& places,
                  VarId outer,
                  VarId inner,
                  int64_t inner_extent);

// `injective`: steps with different values of `vars`, the variables of the write's index, write
// different elements.
struct WriteShape {
    bool injective = false;
    std::vector<VarId> vars;
};
WriteShape write_shape(const Stage& stage, const StageWrite& write, const StagePool& pool);

}  // namespace lemma::loop
