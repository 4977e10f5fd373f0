// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/round_weights.h — with fast numerics, weights of sums that are bound by
// memory are rounded to f16, which halves the bytes that a run reads. Each channel is scaled so
// that its largest weight is near the end of the range of f16. Runs after `find_narrow_weights`,
// which keeps the weights that are narrow already.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Adds the groups that find the largest weights. Returns the number of contractions that were
// changed.
int round_weights(StageGraph& graph);

}  // namespace lemma::loop
