// SPDX-License-Identifier: Apache-2.0
// loop/schedule/tiles.h — contractions on the tile registers of the processor: a product of small
// matrices for each instruction.
#pragma once

#include "loop/ir/node.h"
#include "loop/schedule/points.h"
#include "loop/schedule/schedule.h"

namespace lemma::loop {

constexpr int64_t kLeastTileRows = 4;  // points of a tile
constexpr int64_t kMostTileVectors = 2;
constexpr int64_t kTileSegments = 2;  // tiles of points at a time
constexpr int64_t kTileLanes = 16;

// Equal parts of at most `most`; the last one begins earlier instead of being smaller.
constexpr int64_t part_of(int64_t extent, int64_t most) {
    return ceil_of(extent, ceil_of(extent, most));
}
// The groups of steps in a tile: a divisor of all of them.
int64_t tile_part(int64_t groups);

// Whether the target has tile registers for terms of bf16 (terms.h).
inline bool has_term_tiles(const Target& target) {
    return target.bf16_tiles && target.lanes() == kTileLanes;
}
// Whether the target has tile registers for the operands of the contraction, and its points and
// lanes fill them well enough.
bool suits_tiles(const Stage& stage,
                 const StagePool& pool,
                 const BufferViews& places,
                 const Target& target,
                 const Contraction& contraction);
// Orders the variables and chooses the tiles, as choose_tile does for vectors. The contraction has
// groups of steps.
void choose_tiles(const Stage& stage,
                  StagePool& pool,
                  const BufferViews& places,
                  const Target& target,
                  Contraction& contraction);
ScheduledKernel schedule_tiles(const Stage& stage,
                               const Contraction& contraction,
                               StagePool& pool,
                               const BufferViews& places,
                               const Target& target);

}  // namespace lemma::loop
