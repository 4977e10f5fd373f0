// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/split_sums.h — cuts a long sum with few results into parts, so that a
// device has enough work at the same time. Part of pack.
#pragma once

#include <optional>

#include "loop/passes/region.h"

namespace lemma::loop {

// The group then makes the sums of the parts. Returns the group that adds them; nothing if the sum
// stays whole.
std::optional<FusionGroup> split_sum(RegionGraph& region, FusionGroup& group, int64_t parts);

}  // namespace lemma::loop
