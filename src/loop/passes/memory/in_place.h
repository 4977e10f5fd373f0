// loop/passes/memory/in_place.h — results that take the memory of an operand which nobody needs
// behind them. Runs last of the passes before tensors get memory: the order of groups must not
// change any more.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns how many results do.
int find_in_place(RegionGraph& region);

}  // namespace lemma::loop
