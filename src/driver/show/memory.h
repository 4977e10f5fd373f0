// driver/show/memory.h — the memory for inputs and results when the operations run one after the
// other and every tensor goes when nobody reads it any more.
#pragma once

#include "driver/show/amount.h"
#include "ir/program/program.h"

namespace lemma::driver {

struct MemoryUse {
    Amount total;  // of all tensors, each once; what is made in a loop counts for one iteration
    Amount peak;   // the most at the same time
};
// Constants and variables are not counted; nothing is computed in place.
MemoryUse memory_use(const ir::Program& program);

}  // namespace lemma::driver
