// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/fold.h — folds scales and shifts per channel into constant weights and
// initial values. Runs after contract, and before pack, which packs the scaled weights.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns the number of contractions that lost their scale.
int fold_scales(StageGraph& graph);

}  // namespace lemma::loop
