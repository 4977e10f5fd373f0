// SPDX-License-Identifier: Apache-2.0
// loop/passes/quantised/distribute.h — quantises the parts of a concatenation one by one, instead
// of the whole. Runs after fuse, and before identities: a part with the scale of the whole is then
// a copy of bytes.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many concatenations it changed.
int distribute_quantisation(StageGraph& graph);

}  // namespace lemma::loop
