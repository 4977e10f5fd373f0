// tests/support/loop_evaluator.h — the loop IR as it is defined, one statement at a time: what
// tests hold compiled kernels against. Every access is checked.
#pragma once

#include <vector>

#include "loop/ir/node.h"
#include "tensor/tensor.h"

namespace lemma::testing {

struct EvaluatedItems {
    int64_t begin, end;
};
// Whether a multiplication and the addition behind it round once.
enum class Fma : bool { Separate, Fused };

// Does some items. The buffers hold the kernel's, one dimension each. An error where an access is
// outside of its buffer, or a buffer is written to that is not said to be.
Result<void> evaluate(const loop::Function& function,
                      EvaluatedItems items,
                      Fma fma,
                      std::vector<tensor::Tensor>& buffers);

}  // namespace lemma::testing
