// SPDX-License-Identifier: Apache-2.0
// loop/passes/prepare/scatter.h — scatter-to-gather: a sum that scatters into its result, such as a
// transposed convolution, becomes a sum that each element gathers. Runs on each stage when it is
// made, before merge_init, which needs to see that the sum covers its tensor.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// `in_order`: each element adds its steps in the order of the formula.
bool invert_scatter(StageGraph& graph, Stage& stage, bool in_order = false);

}  // namespace lemma::loop
