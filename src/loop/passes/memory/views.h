// SPDX-License-Identifier: Apache-2.0
// loop/passes/memory/views.h — copies of elements in their order need no kernel: their result is a
// part of another tensor's memory. Both passes run after layout and when.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// The operands of a concatenation are computed in its result. Returns the number of such tensors.
int find_parts(RegionGraph& region);
// A copy of a contiguous part of a tensor becomes a view of it. Returns the number of such tensors.
int find_views(RegionGraph& region);

}  // namespace lemma::loop
