// codegen/llvm/spills.h — vectors that had no register left.
#pragma once

#include <llvm/Pass.h>

#include <cstdint>

namespace lemma::codegen {

// Runs behind the choice of registers, and adds to `spills` how often the innermost loops load or
// store a vector that was put into memory for want of a register. What happens outside of them, or
// with addresses, takes no time to speak of; nor do a few among many instructions, which run beside
// the others: those were measured to cost less than a smaller tile does.
llvm::FunctionPass* create_spill_counter(int64_t& spills);

}  // namespace lemma::codegen
