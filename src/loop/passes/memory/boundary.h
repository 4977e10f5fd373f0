// SPDX-License-Identifier: Apache-2.0
// loop/passes/memory/boundary.h — finds the tensors that a region reads from outside. Runs after
// each change of readers.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

void find_outer(RegionGraph& region);
// Also finds the tensors that stay row-major: inputs, outputs, weights, and tensors that other
// regions or the interpreter use. Returns their number.
int find_boundary(RegionGraph& region);
// In a loop, tensors that the loop does not change count as constants: they can be packed before
// the loop. Returns their number.
int mark_invariants(RegionGraph& region);

}  // namespace lemma::loop
