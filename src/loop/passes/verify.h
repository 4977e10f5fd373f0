// loop/passes/verify.h — what every pass from zeros on must leave behind. Tests and fuzz targets
// ask after each pass (PlanOptions::verify).
#pragma once

#include <string>

#include "loop/passes/region.h"

namespace lemma::loop {

// The first fault in words; empty if there is none. The rules:
// - no group is dead, and a compiled one has stages;
// - the lists of a group name what its stages read and write, each tensor once;
// - tensors of compiled groups have a shape and a dtype, and are read and written by as many
//   indices;
// - what a group reads is made before it, or by nobody in the region: then it comes from outside,
//   or lies in the memory of another tensor;
// - expressions use the variables of their stage's loops, which count to the variables' extents;
// - a contraction is what one stage is, and its variables are loops of that stage.
std::string verify(const RegionGraph& region);

}  // namespace lemma::loop
