// loop/passes/prepare/once.h — groups whose inputs are all constants run once, before the first
// run. Runs behind zeros, in the order of the program, so that constants made from constants are
// seen.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns how many groups run once.
int mark_once(RegionGraph& region);

}  // namespace lemma::loop
