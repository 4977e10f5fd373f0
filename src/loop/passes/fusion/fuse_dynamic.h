// SPDX-License-Identifier: Apache-2.0
// loop/passes/fusion/fuse_dynamic.h — fusion of groups with run-time extents: producer fusion and
// epilogue fusion of element-wise stages. Groups with known extents are left to fuse. Runs after
// unused, because it counts readers.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns the number of groups that were fused into others.
int fuse_dynamic(StageGraph& graph);

}  // namespace lemma::loop
