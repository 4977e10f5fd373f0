// loop/passes/fusion/rows.h — stages that need of one another's results no more than their own row,
// as those of a softmax or a normalisation, become one kernel, which takes row after row while it
// is in the cache. Runs behind store_along and layout.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns how many groups became part of another one.
int share_rows(RegionGraph& region, const Target& target);

}  // namespace lemma::loop
