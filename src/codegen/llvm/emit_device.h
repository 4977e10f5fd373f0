// SPDX-License-Identifier: Apache-2.0
// codegen/llvm/emit_device.h — the parts of kernels for NVIDIA GPUs that others do not have.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <string>

#include "loop/ir/node.h"

namespace lemma::codegen {

// Adds `name(ptr buffer…, i64 begin, i64 end)` to the module, which a launch calls with a thread
// for each item: groups are blocks. `body` computes a range of items.
void emit_device_entry(llvm::IRBuilder<>& b,
                       const loop::Function& function,
                       const std::string& name,
                       llvm::Function* body);
// The address of memory that the threads of a block share.
llvm::Value* shared_memory(llvm::IRBuilder<>& b,
                           llvm::Type* element,
                           int64_t elements,
                           llvm::Module& module);
void emit_barrier(llvm::IRBuilder<>& b);

}  // namespace lemma::codegen
