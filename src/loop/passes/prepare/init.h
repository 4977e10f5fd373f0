// SPDX-License-Identifier: Apache-2.0
// loop/passes/prepare/init.h — merges the stage that assigns initial values into the following
// reduction. Runs on each operation when its stages are made; the planner then checks whether more
// than one stage is left.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns the number of stages removed.
int merge_init(StageGraph& graph, FusionGroup& group);

}  // namespace lemma::loop
