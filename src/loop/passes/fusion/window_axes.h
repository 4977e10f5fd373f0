// SPDX-License-Identifier: Apache-2.0
// loop/passes/fusion/window_axes.h — sums and extremes over windows along several axes take the
// axes one after the other. The kernel does so plane by plane, in memory that stays in the cache;
// the plane has a border there, so that no step is skipped. Runs after layout and before rows.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns the number of groups that were rewritten.
int separate_windows(RegionGraph& region, const Target& target);

}  // namespace lemma::loop
