// SPDX-License-Identifier: Apache-2.0
// loop/passes/prepare/parts.h — makes each part of a split a separate group, so that it can be
// fused into its readers. Runs before fuse.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns the number of groups that were separated.
int separate_parts(StageGraph& graph);

}  // namespace lemma::loop
