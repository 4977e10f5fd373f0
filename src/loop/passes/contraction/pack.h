// loop/passes/contraction/pack.h — the operand of a contraction that is walked in lanes gets its
// own copy, packed in the order in which the kernel walks it. Runs when tensors have memory: where
// they lie decides the tile.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many contractions there are.
int pack_weights(StageGraph& graph, const BufferViews& places, const Target& target);

}  // namespace lemma::loop
