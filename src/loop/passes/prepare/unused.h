// SPDX-License-Identifier: Apache-2.0
// loop/passes/prepare/unused.h — removes groups whose results nobody reads. Runs after reshape, and
// before fuse counts the readers of each tensor.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns the number of groups removed.
int drop_unused(StageGraph& graph);

}  // namespace lemma::loop
