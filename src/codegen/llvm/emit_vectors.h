// SPDX-License-Identifier: Apache-2.0
// codegen/llvm/emit_vectors.h — operations on whole vectors and on tile registers as LLVM IR.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <vector>

#include "codegen/llvm/emit.h"
#include "loop/ir/node.h"

namespace lemma::codegen {

// loop::Op::FirstHalves or SecondHalves.
llvm::Value* emit_halves(llvm::IRBuilder<>& b,
                         const loop::Expr& e,
                         const std::vector<llvm::Value*>& v);
// loop::Op::DotBytes of {total, a, b}; `signs` as there.
llvm::Value* emit_dot_bytes(llvm::IRBuilder<>& b,
                            const std::vector<llvm::Value*>& v,
                            int64_t signs,
                            const EmitOptions& options);
// loop::Op::DotBf16 of {total, a, b}.
llvm::Value* emit_dot_bf16(llvm::IRBuilder<>& b,
                           const std::vector<llvm::Value*>& v,
                           const EmitOptions& options);
// loop::Op::Library, lane by lane.
llvm::Value* emit_library(llvm::IRBuilder<>& b,
                          const loop::Expr& e,
                          const std::vector<llvm::Value*>& v,
                          llvm::Module& module);
// loop::Op::Less, LessEqual, Equal or NotEqual of two numbers of the type.
llvm::Value* emit_compare(llvm::IRBuilder<>& b,
                          loop::Op op,
                          loop::Type from,
                          const std::vector<llvm::Value*>& v);
// Of a bool. A comparison becomes another one, so that the result can be a mask.
llvm::Value* emit_not(llvm::IRBuilder<>& b, llvm::Value* x);
// A float as the bits of a bf16: rounds to nearest, ties to even; NaN stays NaN. And the upper bits
// of a float that is one already.
llvm::Value* emit_bf16(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emit_upper_bits(llvm::IRBuilder<>& b, llvm::Value* x);
// loop::Op::FirstTerm.
llvm::Value* emit_first_term(llvm::IRBuilder<>& b, llvm::Value* x);
// loop::Op::Scale: x * 2^n.
llvm::Value* emit_scale(llvm::IRBuilder<>& b,
                        llvm::Value* x,
                        llvm::Value* n,
                        const EmitOptions& options);

// At the beginning and at the end of a function with tiles.
void configure_tiles(llvm::IRBuilder<>& b, const std::vector<loop::TileRegister>& tiles);
void release_tiles(llvm::IRBuilder<>& b);
// `address` and `stride` in bytes: of a load or a store.
void emit_tile(llvm::IRBuilder<>& b, const loop::TileStmt& s, llvm::Value* address, int64_t stride);

// The minimum or maximum of two reals; NaN if either is NaN.
llvm::Value* emit_extreme(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y, bool least);

}  // namespace lemma::codegen
