// SPDX-License-Identifier: Apache-2.0
// emit/fast/kernel.h — a kernel of the loop IR as a C function.
#pragma once

#include <string>

#include "emit/fast/vector_support.h"
#include "loop/ir/node.h"

namespace lemma::emit {

// The definition of `static void NAME(void* const* p, int64_t begin, int64_t end)`, which computes
// a range of items on the buffers `p`. The functions that it calls are added to `support`.
std::string print_kernel(const loop::Function& function,
                         const std::string& name,
                         VectorSupport& support);

}  // namespace lemma::emit
