// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/groups.h — lets a contraction multiply groups of elements at once, where
// a step has four bytes of A side by side. Runs when tensors have their places.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Replaces the inner variable of the contraction by one that counts groups. Returns whether it did.
bool group_steps(RegionGraph& region, FusionGroup& group, const Target& target);

}  // namespace lemma::loop
