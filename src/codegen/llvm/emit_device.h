// SPDX-License-Identifier: Apache-2.0
// codegen/llvm/emit_device.h — the parts of kernels for NVIDIA GPUs that others do not have.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <array>
#include <string>
#include <vector>

#include "loop/ir/node.h"

namespace lemma::codegen {

// Bytes that a thread loads or stores at once.
constexpr int64_t kDeviceVector = 16;

// Code that computes a range of items.
struct DeviceBody {
    llvm::Function* code = nullptr;
    std::vector<bool> vectors;            // the buffers that must begin at whole vectors
    llvm::Function* elsewhere = nullptr;  // if one of them does not; may be missing
};

// Adds `name(ptr buffer…, i64 begin, i64 end)` to the module, which a launch calls with a thread
// for each item: groups are blocks.
void emit_device_entry(llvm::IRBuilder<>& b,
                       const loop::Function& function,
                       const std::string& name,
                       const DeviceBody& body);
// The address of a buffer that the threads of a block share.
llvm::Value* group_memory(llvm::IRBuilder<>& b,
                          const loop::Function& function,
                          loop::BufferId buffer,
                          llvm::Module& module);
void emit_barrier(llvm::IRBuilder<>& b);
// A barrier that tells whether the value, an i1, is true in a thread of the block.
llvm::Value* emit_question(llvm::IRBuilder<>& b, llvm::Value* value);
// The value of the item of the warp whose number differs in the bits of `distance`.
llvm::Value* emit_exchange(llvm::IRBuilder<>& b, llvm::Value* value, int64_t distance);
// Copies so many bytes to memory of the block, or writes zeros where they are not wanted (missing:
// everywhere).
void emit_copy(
    llvm::IRBuilder<>& b, llvm::Value* to, llvm::Value* from, int64_t bytes, llvm::Value* wanted);
void emit_end_of_batch(llvm::IRBuilder<>& b);
void emit_await(llvm::IRBuilder<>& b, int64_t later);
// The totals after a MatrixStmt: those before it, and the words of both operands.
std::array<llvm::Value*, 4> emit_matrix(llvm::IRBuilder<>& b,
                                        loop::MatrixProducts products,
                                        const std::array<llvm::Value*, 4>& totals,
                                        const std::array<llvm::Value*, 4>& a,
                                        const std::array<llvm::Value*, 2>& words_of_b);

}  // namespace lemma::codegen
