// SPDX-License-Identifier: Apache-2.0
// codegen/llvm/emit_ints.h — quotients of ints, and arithmetic of ints that fit 32 bits, for
// devices: there 64 bits take several times as long, and quotients many times.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "loop/ir/int_ranges.h"

namespace lemma::codegen {

// The value of an int, or of a comparison of ints, if its operands and its result fit 32 bits; null
// if they do not. Values have 64 bits outside.
llvm::Value* emit_small_int(llvm::IRBuilder<>& b,
                            const loop::Function& function,
                            loop::IntRanges& ranges,
                            const loop::Expr& e,
                            loop::IntRange result,
                            const std::vector<llvm::Value*>& v);
// The sum of an address without its offset, whose range fits 32 bits. `vars` has the values of the
// variables, and `dynamic` that of the dynamic part, or null.
llvm::Value* emit_small_sum(llvm::IRBuilder<>& b,
                            loop::IntRanges& ranges,
                            const loop::Address& address,
                            const std::vector<llvm::Value*>& vars,
                            llvm::Value* dynamic);
// The quotient, rounded down, or the rest. Division by zero gives 0, and the one quotient that
// overflows wraps to the dividend.
struct Division {
    bool quotient = true;   // else the rest
    bool positive = false;  // the divisor is known to be so
};
llvm::Value* emit_division(llvm::IRBuilder<>& b,
                           Division division,
                           llvm::Value* dividend,
                           llvm::Value* divisor);
// The lower half of an int of 64 bits, and the int of such a half.
llvm::Value* narrowed(llvm::IRBuilder<>& b, llvm::Value* v);
llvm::Value* widened(llvm::IRBuilder<>& b, llvm::Value* v, loop::IntRange range);

}  // namespace lemma::codegen
