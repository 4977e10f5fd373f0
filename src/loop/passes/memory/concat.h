// SPDX-License-Identifier: Apache-2.0
// loop/passes/memory/concat.h — the operands of a concatenation are computed in its result, with
// the strides of the result, also along an inner axis. Runs after layout, and before parts and
// views, which do the same for whole rows.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns the number of tensors that became a part of another one.
int find_insertions(RegionGraph& region);

}  // namespace lemma::loop
