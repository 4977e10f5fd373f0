// SPDX-License-Identifier: Apache-2.0
// loop/passes/prepare/lift.h — moves sums out of a loop: a sum that reads only the loop's items and
// outside tensors, such as the input product of a recurrent layer, becomes one sum over all
// iterations before the loop. It uses each weight many times, and its results become items of the
// loop. Runs before fuse, which would mix these sums with values that change in each iteration.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns the number of lifted sums.
int lift_sums(RegionGraph& region);

}  // namespace lemma::loop
