// loop/passes/fusion/store_along.h — multi-output fusion: element-wise stages whose elements a
// reduction reads are done with it, and stored as they are summed. Runs behind when and views,
// which say which tensors share memory and which groups run before a loop; before rows, which then
// finds one stage less.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Returns how many groups became part of a reduction.
int store_along(RegionGraph& region);

}  // namespace lemma::loop
