// loop/passes/prepare/order.h — groups come in an order that the results decide, each behind what
// it reads, so that the order in which a file lists its operations decides nothing. Runs before all
// passes that go from group to group.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Where the interpreter tells extents, the order of the program stays. Returns how many groups are
// in another place.
int order_groups(RegionGraph& region);

}  // namespace lemma::loop
