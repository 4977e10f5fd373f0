// codegen/jit.h — the compiler of this process, loaded when it is first wanted: LLVM is large, and
// commands that run nothing should not wait for it.
#pragma once

#include <memory>

#include "base/result.h"
#include "codegen/llvm/compiler.h"

namespace lemma::codegen {

// The library `lemma_jit.so` lies beside the program, in the folder above, or in `lib` beside that;
// the variable LEMMA_JIT of the environment names another one. LEMMA_TARGET names the target where
// the options do not.
Result<std::unique_ptr<Compiler>> load_compiler(CompilerOptions options = {});

}  // namespace lemma::codegen
