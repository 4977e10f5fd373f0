// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/halo.h — the halo of a tensor: zeros around it, so that windows over its
// edge need no guards.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Widens the halo so that the read stays inside it. The indices of the read are affine.
void widen_halo(const StagePool& pool, const Expr& read, Halo& halo);
// Likewise for the tiles of the contraction's window, of which the last ones may reach over the end
// of the operand. `shape` is that of the surrounded operand.
void widen_halo(const StagePool& pool,
                const Contraction& contraction,
                const tensor::Shape& shape,
                Halo& halo);

}  // namespace lemma::loop
