// SPDX-License-Identifier: Apache-2.0
// loop/ir/run.h — runs a function without machine code. It serves functions for other processors,
// such as those that pack weights, and tests.
#pragma once

#include <cstdint>

#include "loop/ir/node.h"

namespace lemma::loop {

struct RunFunctionOptions {
    bool has_fma = true;  // false: a product is rounded before it is added
};

// Computes the items begin <= i < end, with the meaning that compiled code has. The function must
// be verified; `buffers` has an address for each of its buffers.
void run_function(const Function& function,
                  void* const* buffers,
                  int64_t begin,
                  int64_t end,
                  RunFunctionOptions options = {});

}  // namespace lemma::loop
