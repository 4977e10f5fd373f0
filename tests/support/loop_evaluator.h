// SPDX-License-Identifier: Apache-2.0
// tests/support/loop_evaluator.h — the definition of the loop IR, one statement at a time. Tests
// compare compiled kernels with it. Every access is checked.
#pragma once

#include <vector>

#include "loop/ir/node.h"
#include "tensor/tensor.h"

namespace lemma::testing {

struct EvaluatedItems {
    int64_t begin, end;
};
// Whether a multiplication and the following addition round once.
enum class Fma : bool { Separate, Fused };

// Computes a range of items. The buffers are those of the kernel, one dimension each. An error if
// an access is out of bounds, or if a read-only buffer is written.
Result<void> evaluate(const loop::Function& function,
                      EvaluatedItems items,
                      Fma fma,
                      std::vector<tensor::Tensor>& buffers);

// Computes the groups from `begin` on of a kernel for a device, one after the other, with the items
// of a group in turn. `order` decides the order of both, which must not matter: an error if items
// of a group touch an element between two barriers and one of them writes it, if a group writes
// what another one touches, or if some items of a group do not reach a barrier.
Result<void> evaluate_groups(const loop::Function& function,
                             EvaluatedItems items,
                             uint64_t order,
                             std::vector<tensor::Tensor>& buffers);

}  // namespace lemma::testing
