// loop/passes/contraction/squares.h — sums of squared distances get the sums of squares that make
// products of them. Runs behind contract, and behind rows, which would take these sums in.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many contractions have them.
int find_squares(StageGraph& graph, Numerics numerics);

}  // namespace lemma::loop
