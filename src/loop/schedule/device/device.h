// SPDX-License-Identifier: Apache-2.0
// loop/schedule/device/device.h — the parts of kernels of plain loops for a device.
#pragma once

#include <optional>
#include <vector>

#include "loop/schedule/nest.h"

namespace lemma::loop {

constexpr int64_t kDeviceThreads = int64_t{1} << 15;  // fewer leave a device idle

inline int64_t elements_of(const std::vector<NestLoop>& loops) {
    int64_t elements = 1;
    for (const NestLoop& loop : loops) elements = total_elements(elements, loop.extent);
    return elements;
}

// Whether a device has all functions of the stage.
bool needs_no_library(const Stage& stage, const StagePool& pool);
// The type of values of the kind in memory.
tensor::DType memory_of(Kind kind);
// Combines the values of `width` neighbours of a warp, the farthest first. All of them get the
// result. The width is a power of two.
ExprId over_warp(Builder& build, Op combine, ExprId part, int64_t width, Block& out);
// Combines the values of the warps of a group in order; each warp has one.
struct WarpParts {
    Op combine;
    ExprId part;
    VarId thread;  // in the group
    int64_t threads;
};
ExprId over_warps(Builder& build, const WarpParts& parts, Block& out);

// The loops of a stage whose steps touch other elements than all other steps: items may share them.
// The other loops keep their order. Empty if that does not pay.
std::vector<NestLoop> independent_loops(const Stage& stage, const StagePool& pool);
// A kernel with an item for each step of those loops; false if there are none.
bool schedule_device_order(const NestContext& context,
                           NestSteps& steps,
                           ScheduledKernel& result,
                           Lowering& lower);

// ---- transpose.cpp ------------------------------------------------------------------------------

// The kernel of a map that transposes an operand; false for other maps.
bool schedule_device_transpose(const NestContext& context,
                               const NestShape& shape,
                               NestSteps& steps,
                               ScheduledKernel& result,
                               Lowering& lower);

// ---- rows.cpp -----------------------------------------------------------------------------------

// schedule_rows for a device that can run all stages.
ScheduledKernel schedule_device_rows(const std::vector<Stage>& stages,
                                     const RowGroup& rows,
                                     StagePool& pool,
                                     const BufferViews& places,
                                     const Target& target);
// The places of the stages' tensors, including the numbers per row.
BufferViews row_places(const std::vector<Stage>& stages,
                       const RowGroup& rows,
                       const StagePool& pool,
                       const BufferViews& places);

// ---- vectors.cpp --------------------------------------------------------------------------------

// The neighbouring elements that an item computes as a vector; 1: it computes one.
int64_t device_lanes(const NestContext& context, const NestShape& shape);
void schedule_device_vectors(const NestShape& shape,
                             int64_t lanes,
                             NestSteps& steps,
                             const NestContext& context,
                             ScheduledKernel& result,
                             Lowering& lower);

// Short sums over windows: an item computes `count` neighbours along the variable `rows`, which may
// be missing.
struct DeviceWindow {
    VarId rows;
    int64_t count = 1;
};
std::optional<DeviceWindow> find_device_window(const NestContext& context, const NestShape& shape);
void schedule_device_windows(const NestContext& context,
                             const NestShape& shape,
                             const DeviceWindow& window,
                             NestSteps& steps,
                             ScheduledKernel& result,
                             Lowering& lower);

}  // namespace lemma::loop
