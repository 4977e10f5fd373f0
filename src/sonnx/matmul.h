// SPDX-License-Identifier: Apache-2.0
// sonnx/matmul.h — a MatMul of other ranks as a product of two matrices: the shapes between the
// Reshape nodes. The rule about ranks and `--fix` use it.
#pragma once

#include <optional>

#include "sonnx/view.h"

namespace lemma::sonnx {

struct MatMul2d {
    Extents a, b;  // the operands as matrices
    Extents y;     // the product of these
    Extents result;
};
// Empty if a shape is unknown, the ranks are 2 already, or B differs from batch to batch.
std::optional<MatMul2d> plan_matmul_2d(const onnx::Node& node, const View& view);

}  // namespace lemma::sonnx
