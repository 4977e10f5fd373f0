// loop/passes/fusion/hoist.h — what element-wise stages compute from constants for each channel is
// computed once, and chains of scales and shifts by such values are one of each. Runs behind fuse,
// which makes the chains; fuse runs again if there were any.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many groups of constants were made.
int hoist_constants(StageGraph& graph);

}  // namespace lemma::loop
