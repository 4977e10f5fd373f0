// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/halo.h — the halo of a tensor: zeros around it, so that windows over its
// edge need no guards.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Widens the halo so that the read stays inside it. The indices of the read are affine.
void widen_halo(const StagePool& pool, const Expr& read, Halo& halo);

}  // namespace lemma::loop
