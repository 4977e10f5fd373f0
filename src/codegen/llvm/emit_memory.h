// SPDX-License-Identifier: Apache-2.0
// codegen/llvm/emit_memory.h — elements of tensors in memory and their values in registers.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "tensor/dtype.h"

namespace lemma::codegen {

llvm::Type* memory_type(llvm::LLVMContext& context, tensor::DType dtype);
// The value of loaded elements, scalars or vectors; and back.
llvm::Value* from_memory(llvm::IRBuilder<>& b, llvm::Value* v, tensor::DType dtype);
llvm::Value* to_memory(llvm::IRBuilder<>& b, llvm::Value* v, tensor::DType dtype);

// A vector of bytes, four of them at once.
llvm::Value* load_words(llvm::IRBuilder<>& b,
                        llvm::Type* bytes,
                        llvm::Value* at,
                        llvm::Align align);
void store_words(llvm::IRBuilder<>& b, llvm::Value* bytes, llvm::Value* at, llvm::Align align);

}  // namespace lemma::codegen
