// loop/passes/prepare/lift.h — sums in the body of a loop that need only its items and things
// outside, as the input products of a recurrent layer, become one sum over all iterations before
// the loop. It uses each weight many times; its results are items of the loop. Runs before fuse,
// which would mix those sums with what changes from step to step.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns how many sums were lifted.
int lift_sums(RegionGraph& region);

}  // namespace lemma::loop
