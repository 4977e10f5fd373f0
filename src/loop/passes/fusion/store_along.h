// SPDX-License-Identifier: Apache-2.0
// loop/passes/fusion/store_along.h — multi-output fusion: a reduction computes the element-wise
// stage that it reads, and stores its elements while it sums them. Runs after when and views, which
// find shared memory and groups before a loop, and before rows, which then has one stage less.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns the number of groups that were fused into a reduction.
int store_along(RegionGraph& region);

}  // namespace lemma::loop
