// SPDX-License-Identifier: Apache-2.0
// loop/passes/memory/when.h — finds the groups that run once before the first run, those that run
// before the loop, and the tensors that the others write. Runs after layout, which adds groups, and
// again after views, which removes some.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns the number of groups that do not run with the region.
int find_when(RegionGraph& region);

}  // namespace lemma::loop
