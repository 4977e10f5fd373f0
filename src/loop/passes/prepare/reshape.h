// loop/passes/prepare/reshape.h — a copy in one flat order that is read in another one vanishes:
// the reader gets the elements from where they came, with its loops split where the axes of the two
// meet. Runs before fuse, which takes in the reads, and before unused, which drops the copy.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many groups read from further up.
int compose_reshapes(StageGraph& graph);

}  // namespace lemma::loop
