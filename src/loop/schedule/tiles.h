// SPDX-License-Identifier: Apache-2.0
// loop/schedule/tiles.h — contractions on the tile registers of the processor: a product of small
// matrices for each instruction.
#pragma once

#include "loop/schedule/schedule.h"

namespace lemma::loop {

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
