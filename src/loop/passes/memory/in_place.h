// SPDX-License-Identifier: Apache-2.0
// loop/passes/memory/in_place.h — results take the memory of an operand that is not needed
// afterwards. Runs last of the passes before tensors get memory, because the order of groups must
// stay.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns the number of such results.
int find_in_place(RegionGraph& region);

}  // namespace lemma::loop
