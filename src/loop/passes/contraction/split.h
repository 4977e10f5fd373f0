// loop/passes/contraction/split.h — sub-pixel (phase) decomposition: sums that gather every so many
// elements become one sum for each remainder. Runs behind fuse, so that all of them get the
// epilogue, and before contract, which has no way to skip steps.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// No stage has inverses behind it. Returns how many groups were split.
int split_inverses(StageGraph& graph);

}  // namespace lemma::loop
