// SPDX-License-Identifier: Apache-2.0
// show/memory.h — the memory for inputs and results if operations run one after the other
// and each tensor is freed after its last use.
#pragma once

#include "ir/program/program.h"
#include "show/amount.h"

namespace lemma::show {

struct MemoryUse {
    Amount total;  // all tensors, each once; tensors of a loop count for one iteration
    Amount peak;   // the peak
};
// Constants and variables do not count; no operation works in place.
MemoryUse memory_use(const ir::Program& program);

}  // namespace lemma::show
