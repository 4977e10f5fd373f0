// SPDX-License-Identifier: Apache-2.0
// loop/passes/prepare/widen.h — results that are rounded once. The interpreter keeps the results of
// an operation in double until its last formula is done; here they get a wider tensor until then.
// Runs for each operation by itself, after merge_init.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// The tensors of the group that stages write and then read or update, and whose type would round
// the values in between. In strict mode these are the types narrower than the interpreter's, else
// the 16-bit reals.
std::vector<ir::TensorId> rounded_between(const StageGraph& graph, const FusionGroup& group);

// Stages use a wider tensor in place of this one, and a last stage copies it to the result. Does
// nothing if the type holds every value.
void widen_result(StageGraph& graph, FusionGroup& group, ir::TensorId id);
// Does so with each of the tensors above.
// The number of widened tensors.
int widen_results(StageGraph& graph, FusionGroup& group);

}  // namespace lemma::loop
