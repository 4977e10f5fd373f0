// loop/passes/memory/views.h — what only copies elements in their order needs no kernel: it is a
// part of another tensor's memory. Both run behind layout and when.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// What a concatenation takes is made in its result at once. Returns how many tensors.
int find_parts(RegionGraph& region);
// What is read in order from a part of a tensor is that part. Returns how many tensors.
int find_views(RegionGraph& region);

}  // namespace lemma::loop
