// loop/passes/contraction/layouts.h — tensors that nobody outside sees are laid out as the
// contractions want them: channels innermost, with zeros around where windows reach over the edge.
// Others get a copy where it pays. Runs behind contract.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// `fixed` tensors stay row-major.
Layouts choose_layouts(StageGraph& graph, const TensorSet& fixed);

}  // namespace lemma::loop
