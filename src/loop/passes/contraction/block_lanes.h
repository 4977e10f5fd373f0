// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/block_lanes.h — sums whose lanes run along an axis of both operands, such
// as the channels of a depthwise convolution, work on copies in blocks of that axis: a copy has the
// lanes of a vector innermost and the blocks where the axis was. Kernels then read and write memory
// in order. Only for operands and results with a fixed layout, which get a copy in any case. Runs
// inside layouts.h.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// `fixed` tensors stay row-major. Returns the number of sums.
int block_lanes(StageGraph& graph, const TensorSet& fixed);

}  // namespace lemma::loop
