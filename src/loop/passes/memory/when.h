// loop/passes/memory/when.h — finds out which groups run before the first run, which before the
// loop, and what the others write. Runs behind layout, which adds groups, and again when views has
// removed some.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns how many groups do not run with the region.
int find_when(RegionGraph& region);

}  // namespace lemma::loop
