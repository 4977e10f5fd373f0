// SPDX-License-Identifier: Apache-2.0
// loop/passes/fusion/hoist.h — computes values of constants per channel once, and merges chains of
// constant scales and shifts into one scale and one shift. Runs after fuse, which makes the chains;
// fuse runs again if any were found.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns the number of groups of constants that were made.
int hoist_constants(StageGraph& graph);

}  // namespace lemma::loop
