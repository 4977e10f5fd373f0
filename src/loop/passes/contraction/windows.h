// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/windows.h — finds sums over windows of three taps that are cheaper on
// transformed tiles (winograd.h).
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// They must take at most `share` of the time of a plain sum. Default numerics allow tiles of two
// outputs, fast numerics those of four, too. The choice does not depend on the number of threads.
// Runs after contract, and before layout, which adds zeros behind the last tile.
int find_windows(StageGraph& graph, const Target& target, Numerics numerics, double share);

}  // namespace lemma::loop
