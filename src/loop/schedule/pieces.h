// SPDX-License-Identifier: Apache-2.0
// loop/schedule/pieces.h — pieces of a loop in which no condition on its variable changes. Inside a
// padded image, for example, no step compares its index with the borders.
#pragma once

#include <vector>

#include "loop/stage/stage.h"

namespace lemma::loop {

// Steps [begin, end) of the loop. In the stage, `var` counts them from `begin` on.
struct LoopPiece {
    int64_t begin, end;
    VarId var;
    Stage stage;
};

// The pieces of the loop, in order; empty if there is only one, or if they are not worth it.
std::vector<LoopPiece> pieces_of(const Stage& stage, StagePool& pool, VarId var);

// The longest piece; null if there are none.
const LoopPiece* longest(const std::vector<LoopPiece>& pieces);

}  // namespace lemma::loop
