// SPDX-License-Identifier: Apache-2.0
// loop/passes/fusion/siblings.h — horizontal fusion: products of one operand with several constant
// weights become one product with the weights side by side, if the separate products take
// `least_gain` times as long. The operand is read once, and narrow products fill whole tiles. Each
// result is a slice of the common one. Runs after fuse, which gives sums their epilogues, and
// before contract.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns the number of merged products.
int merge_siblings(StageGraph& graph, const Target& target, double least_gain);

}  // namespace lemma::loop
