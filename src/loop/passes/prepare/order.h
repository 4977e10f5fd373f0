// SPDX-License-Identifier: Apache-2.0
// loop/passes/prepare/order.h — orders groups from the results back, each after its inputs, so that
// the order of operations in a file does not matter. Runs before all passes that go from group to
// group.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Keeps the program's order if a group is not compiled. Returns the number of groups that moved.
int order_groups(RegionGraph& region);

}  // namespace lemma::loop
