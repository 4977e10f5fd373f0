// loop/passes/memory/concat.h — what a concatenation takes is made in its result at once, with the
// strides of the whole: also along an inner axis. Runs behind layout, and before parts and views,
// which do the same for whole rows.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns how many tensors are a part of another one.
int find_insertions(RegionGraph& region);

}  // namespace lemma::loop
