// loop/passes/prepare/scatter.h — scatter-to-gather: a sum that is scattered over the elements of
// its result, as that of a transposed convolution, becomes one that each element gathers. Runs on
// each stage as it is made, before merge_init, which needs to see that the sum covers its tensor.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

bool invert_scatter(StageGraph& graph, Stage& stage);

}  // namespace lemma::loop
