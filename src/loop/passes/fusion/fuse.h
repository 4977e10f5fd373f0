// SPDX-License-Identifier: Apache-2.0
// loop/passes/fusion/fuse.h — fuses element-wise stages into their readers where that is not more
// expensive (producer fusion), and into the reductions that they read (epilogue fusion). Runs after
// unused, because it counts readers.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Upper bound on the operations of a value that moves into its readers. Longer chains become
// several kernels: passes walk a value once for each part, and registers do not hold it anyway.
inline constexpr int64_t kMostFused = 200;

// Returns the number of groups that were fused into others.
int fuse(StageGraph& graph);

}  // namespace lemma::loop
