// SPDX-License-Identifier: Apache-2.0
// loop/passes/prepare/once.h — groups with only constant inputs run once, before the first run.
// Runs after zeros, in program order, so that it sees constants made from constants.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns the number of such groups.
int mark_once(RegionGraph& region);

}  // namespace lemma::loop
