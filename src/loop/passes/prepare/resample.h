// SPDX-License-Identifier: Apache-2.0
// loop/passes/prepare/resample.h — interpolations: sums whose weights and source positions are
// functions of one axis each become one sum for each axis. The functions become tables, which are
// computed once. Runs before fuse, which may add an epilogue to the last sum.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns the number of stages that were rewritten.
int separate_axes(StageGraph& graph);

}  // namespace lemma::loop
