// SPDX-License-Identifier: Apache-2.0
// loop/passes/quantised/identities.h — a byte that is dequantised and quantised again with the same
// scale and zero point is itself. Such pairs remain where a graph moves quantised numbers. Runs
// after distribute, and after fuse, which brings the two operations together.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many values of stages it changed.
int find_identities(StageGraph& graph);

}  // namespace lemma::loop
