// loop/passes/memory/boundary.h — what a region reads from outside. Runs whenever passes added or
// removed readers.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

void find_outer(RegionGraph& region);
// Besides, tensors that others see stay row-major: inputs and outputs, weights, what other regions
// see, and what the interpreter touches. Returns how many there are.
int find_boundary(RegionGraph& region);
// In a loop, what it does not change is as good as a constant: it can be packed before the loop.
// Returns how many such tensors there are.
int mark_invariants(RegionGraph& region);

}  // namespace lemma::loop
