// loop/passes/prepare/parts.h — the parts of a split are groups of their own, so that each can
// become part of what reads it. Runs before fuse.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many groups fell apart.
int separate_parts(StageGraph& graph);

}  // namespace lemma::loop
