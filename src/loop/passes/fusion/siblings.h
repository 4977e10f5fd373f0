// loop/passes/fusion/siblings.h — horizontal fusion: products of one operand with several constant
// weights become one product with the weights side by side, where they take so many times as long
// by themselves. The operand is read once, and tiles are full where those of a few channels are
// not. Each result is a slice of what that makes. Runs behind fuse, which gives sums their
// epilogues, and before contract.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many products were made of several.
int merge_siblings(StageGraph& graph, const Target& target, double least_gain);

}  // namespace lemma::loop
