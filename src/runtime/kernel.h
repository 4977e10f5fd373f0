// runtime/kernel.h — compiled code as the runtime calls it.
#pragma once

#include <cstdint>

namespace lemma::runtime {

// Does the items begin <= i < end of a kernel on the buffers that it was compiled for.
using KernelFunction = void (*)(void* const* buffers, int64_t begin, int64_t end);

}  // namespace lemma::runtime
