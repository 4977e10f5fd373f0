// loop/passes/contraction/fold.h — what scales and shifts the results of constant weights, channel
// by channel, goes into the weights and the initial values. Runs behind contract, and before pack,
// which packs the scale.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many contractions lost their scale.
int fold_scales(StageGraph& graph);

}  // namespace lemma::loop
