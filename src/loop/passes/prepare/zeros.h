// SPDX-License-Identifier: Apache-2.0
// loop/passes/prepare/zeros.h — tensors are initially zero: a stage that writes zeros comes first
// where some elements are not written. Runs on new stages, so that later passes can rely on kernels
// to write every element that is read.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// Returns the number of stages added.
int add_zeros(StageGraph& graph);

}  // namespace lemma::loop
