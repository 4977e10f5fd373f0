// loop/passes/prepare/init.h — the stage that gives elements their initial value becomes part of
// the reduction behind it. Runs on each operation as its stages are made; the planner asks
// afterwards whether more than one stage is left.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many stages are gone.
int merge_init(StageGraph& graph, FusionGroup& unit);

}  // namespace lemma::loop
