// SPDX-License-Identifier: Apache-2.0
// loop/passes/prepare/reshape.h — removes copies between flat orders of elements: the reader reads
// the source of the copy, with its loops split where the axes of the two meet. Runs before fuse,
// which takes in the reads, and before unused, which drops the copy.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns the number of groups that read the source instead.
int compose_reshapes(StageGraph& graph);

}  // namespace lemma::loop
