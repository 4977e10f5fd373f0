// loop/passes/fusion/fuse_dynamic.h — fusion of groups with run-time extents: element-wise
// producers become part of their readers, and element-wise readers epilogues of reductions. Groups
// with known extents are left to fuse. Needs unused: it counts readers.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns how many groups became part of others.
int fuse_dynamic(StageGraph& graph);

}  // namespace lemma::loop
