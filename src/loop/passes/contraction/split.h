// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/split.h — sub-pixel (phase) decomposition: a sum that gathers every n-th
// element becomes one sum per remainder. Runs after fuse, so that each part gets the epilogue, and
// before contract, which cannot skip steps.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Removes all inverses from the stages. Returns the number of groups that were split.
int split_inverses(StageGraph& graph);

}  // namespace lemma::loop
