// loop/passes/prepare/strict.h — what strict numerics cannot leave to kernels. Asked behind
// merge_init.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Whether a float is stored and then worked on by another stage of the group, where the interpreter
// has a double.
bool rounds_between(const StageGraph& graph, const FusionGroup& unit);

}  // namespace lemma::loop
