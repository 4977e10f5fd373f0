// SPDX-License-Identifier: Apache-2.0
// sknd/syntax/fold_op.h — the operator that a fold repeats.
#pragma once

#include "sknd/syntax/ast.h"

namespace lemma::sknd {

// `+` for `x + ..`. A uniform fold, `x := ..`, compares its items.
BinaryOp binary_op(FoldOp op);

}  // namespace lemma::sknd
