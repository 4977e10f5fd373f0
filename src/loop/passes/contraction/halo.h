// loop/passes/contraction/halo.h — zeros around a tensor, so that windows over its edge need no
// guards.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Widens the halo so that the read, whose indices are affine, never leaves the tensor.
void widen_halo(const StagePool& pool, const Expr& read, Halo& halo);

}  // namespace lemma::loop
