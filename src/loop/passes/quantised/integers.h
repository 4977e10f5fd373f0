// SPDX-License-Identifier: Apache-2.0
// loop/passes/quantised/integers.h — sums of products of dequantised bytes become sums of integer
// products, which are many times as fast. Runs after exact, which brings zero points into a common
// form, and before fuse, which adds the following operations as the epilogue.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns how many sums it changed.
int find_integer_sums(RegionGraph& region);

}  // namespace lemma::loop
