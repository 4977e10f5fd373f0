// SPDX-License-Identifier: Apache-2.0
// codegen/llvm/half.h — conversions of half precision for processors that lack them.
#pragma once

#include <llvm/IR/Module.h>

namespace lemma::codegen {

// Defines the functions that LLVM calls for these conversions. The compiler's own library would
// have them, but models need libc and libm only.
void emit_half_conversions(llvm::Module& module);

}  // namespace lemma::codegen
