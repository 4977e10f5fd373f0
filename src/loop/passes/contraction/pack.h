// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/pack.h — gives the operand that a contraction reads in lanes a packed
// copy, in the order of the kernel's accesses. Runs when tensors have memory, because the tile
// depends on their layouts.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns the number of contractions.
int pack_weights(RegionGraph& region, const Target& target, Numerics numerics = Numerics::Default);

}  // namespace lemma::loop
