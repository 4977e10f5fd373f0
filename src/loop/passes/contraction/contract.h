// loop/passes/contraction/contract.h — finds the sums of products, and other sums over pairs, that
// pay as register tiles. Runs behind fuse and siblings: nothing changes their stages any more but
// their operands.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// The sum and the roles of its variables, if the stage is one that pays. Other passes ask, too.
std::optional<Contraction> find_contraction(StageGraph& graph, const Stage& stage);
// Gives groups their contraction. Returns how many were found.
int find_contractions(StageGraph& graph);

}  // namespace lemma::loop
