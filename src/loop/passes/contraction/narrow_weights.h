// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/narrow_weights.h — constant weights that the model stores in few bits
// stay so in memory where a sum has few points and is bound by memory: the kernel makes numbers of
// them in registers. Runs before the tiles are chosen.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Whether the sum has constant weights, and so few points that memory bounds it.
bool suits_narrow_weights(const StageGraph& graph, const FusionGroup& group);

// Finds the narrow weights of contractions (Contraction::narrow). Returns their number.
int find_narrow_weights(StageGraph& graph);

// Packs numbers, scales and zeros in the order of the kernel's accesses; adds the groups.
void pack_narrow(StageGraph& graph,
                 FusionGroup& group,
                 const Target& target,
                 std::vector<FusionGroup>& groups);
// Drops weights that were unpacked once, and that narrow ones have replaced.
void drop_unread(StageGraph& graph);

}  // namespace lemma::loop
