// SPDX-License-Identifier: Apache-2.0
// codegen/llvm/spills.h — counts vector spills.
#pragma once

#include <llvm/Pass.h>

#include <cstdint>

namespace lemma::codegen {

// Runs after register allocation. Adds to `spills` how many loads and stores of spilled vectors the
// innermost loops have. Spills outside of them and spilled addresses cost almost nothing. A few
// spills among many instructions run in parallel with the others; measurements show that a smaller
// tile costs more.
llvm::FunctionPass* create_spill_counter(int64_t& spills);

}  // namespace lemma::codegen
