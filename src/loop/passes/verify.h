// SPDX-License-Identifier: Apache-2.0
// loop/passes/verify.h — the rules that hold after every pass from zeros on. Tests and fuzz targets
// check them after each pass (PlanOptions::verify).
#pragma once

#include <string>

#include "loop/passes/region.h"

namespace lemma::loop {

// Describes the first fault; empty if there is none. The rules:
// - no group is dead, and a compiled one has stages;
// - the lists of a group name the tensors that its stages read and write, each once;
// - tensors of compiled groups have a shape and a dtype, and accesses have one index per axis;
// - a tensor that a group reads is made by an earlier group, or comes from outside the region, or
//   shares the memory of another tensor;
// - expressions use the variables of their stage's loops, which count to the variables' extents;
// - a group with a contraction has one stage, whose loops are the contraction's variables.
std::string verify(const RegionGraph& region);

}  // namespace lemma::loop
