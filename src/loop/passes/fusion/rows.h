// SPDX-License-Identifier: Apache-2.0
// loop/passes/fusion/rows.h — fuses stages that read only their own row of each other's results,
// such as those of a softmax or a normalisation. The kernel runs row by row, so a row stays in the
// cache. Runs after store_along and layout.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns the number of groups that were fused into others.
int share_rows(RegionGraph& region, const Target& target);

}  // namespace lemma::loop
