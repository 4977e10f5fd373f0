// loop/passes/fusion/fuse.h — element-wise stages become part of what reads them where that is not
// more expensive (producer fusion), and of the reductions whose totals they take (epilogue fusion).
// Needs unused: it counts readers.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many groups became part of others.
int fuse(StageGraph& graph);

}  // namespace lemma::loop
