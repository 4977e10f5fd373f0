// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/squares.h — turns sums of squared distances into products and sums of
// squares. Runs after contract, and after rows, which would fuse the sums of squares.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns the number of contractions that were changed.
int find_squares(StageGraph& graph, Numerics numerics);

}  // namespace lemma::loop
