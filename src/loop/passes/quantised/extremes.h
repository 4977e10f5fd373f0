// SPDX-License-Identifier: Apache-2.0
// loop/passes/quantised/extremes.h — the largest of dequantised bytes is the dequantised largest
// byte: maxima and minima are taken of the bytes, and the result is scaled. Runs after exact and
// before fuse.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many maxima and minima it changed.
int find_byte_extremes(StageGraph& graph);

}  // namespace lemma::loop
