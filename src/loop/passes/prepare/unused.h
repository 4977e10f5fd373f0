// loop/passes/prepare/unused.h — what nobody reads is not computed. Runs behind reshape, and before
// fuse counts the readers of each tensor.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many groups are gone.
int drop_unused(StageGraph& graph);

}  // namespace lemma::loop
