// SPDX-License-Identifier: Apache-2.0
// codegen/llvm/emit.h — a loop function as LLVM IR.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "loop/ir/node.h"

namespace lemma::codegen {

struct EmitOptions {
    bool has_fma = true;
    bool fast = false;  // allow estimates of quotients and roots
    bool is_x86 = true;
    bool has_byte_dots = false;  // an instruction for Op::DotBytes
    bool has_bf16_dots = false;  // and for Op::DotBf16
    bool has_scale = false;      // an instruction for Op::Scale of 16 lanes
};

// Adds `void name(ptr buffers, i64 begin, i64 end)` to the module.
void emit(const loop::Function& function,
          const std::string& name,
          const EmitOptions& options,
          llvm::Module& module);

}  // namespace lemma::codegen
