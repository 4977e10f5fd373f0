// SPDX-License-Identifier: Apache-2.0
// runtime/kernel.h — the calling convention of compiled code.
#pragma once

#include <cstdint>

namespace lemma::runtime {

// Computes the items begin <= i < end of a kernel on its buffers.
using KernelFunction = void (*)(void* const* buffers, int64_t begin, int64_t end);

}  // namespace lemma::runtime
