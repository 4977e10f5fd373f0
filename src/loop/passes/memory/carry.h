// SPDX-License-Identifier: Apache-2.0
// loop/passes/memory/carry.h — an output that is carried over to an input of the next run, and
// continues this input along an axis, lies in the memory of the input. The copy of the earlier part
// disappears. Runs after fuse_dynamic, because later passes leave kernels with run-time extents
// alone.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Keeps the pairs of `graph.carried` that lie in one memory. Returns their number.
int carry_in_place(StageGraph& graph);

}  // namespace lemma::loop
