// loop/passes/prepare/zeros.h — tensors start as zeros: a stage that says so comes first where not
// all elements are written. Runs on the stages as they are made: later passes may trust that
// kernels write every element that is read.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many stages there are more.
int add_zeros(StageGraph& graph);

}  // namespace lemma::loop
