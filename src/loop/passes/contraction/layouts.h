// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/layouts.h — chooses the layout of internal tensors for contractions:
// channels innermost, with a halo of zeros where windows reach over the edge. Other tensors get a
// copy where it pays. Runs after contract.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// `fixed` tensors stay row-major.
Layouts choose_layouts(StageGraph& graph, const TensorSet& fixed);

}  // namespace lemma::loop
