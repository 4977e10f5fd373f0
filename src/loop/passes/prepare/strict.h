// loop/passes/prepare/strict.h — finds groups that strict numerics leave to the interpreter. Used
// after merge_init.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Whether a stage of the group stores a float that a later stage reads or updates. The interpreter
// keeps a double there.
bool rounds_between(const StageGraph& graph, const FusionGroup& group);

}  // namespace lemma::loop
