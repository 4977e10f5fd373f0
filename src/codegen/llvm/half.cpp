// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/half.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

namespace lemma::codegen {

namespace {

using llvm::Value;

llvm::Function* begin(const char* name,
                      llvm::Type* from,
                      llvm::Type* to,
                      llvm::Module& module,
                      llvm::IRBuilder<>& b) {
    auto* const made = llvm::Function::Create(
        llvm::FunctionType::get(to, {from}, false), llvm::Function::InternalLinkage, name, module);
    made->addFnAttr(llvm::Attribute::NoUnwind);
    b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", made));
    return made;
}

// A half has 5 bits of exponent and 10 of fraction.
void emit_extension(llvm::Module& module, llvm::IRBuilder<>& b) {
    llvm::Type* const i32 = b.getInt32Ty();
    llvm::Function* const made = begin("__extendhfsf2", b.getHalfTy(), b.getFloatTy(), module, b);
    Value* const bits = b.CreateZExt(b.CreateBitCast(made->getArg(0), b.getInt16Ty()), i32);
    Value* const sign = b.CreateShl(b.CreateAnd(bits, 0x8000), 16);
    Value* const size = b.CreateAnd(bits, 0x7FFF);
    Value* const shifted = b.CreateShl(size, 13);
    Value* const normal = b.CreateAdd(shifted, b.getInt32((127 - 15) << 23));
    // A subnormal half is a whole multiple of 2^-24.
    Value* const unit = llvm::ConstantFP::get(b.getFloatTy(), 0x1p-24);
    Value* const small =
        b.CreateBitCast(b.CreateFMul(b.CreateUIToFP(size, b.getFloatTy()), unit), i32);
    Value* const infinite = b.CreateOr(shifted, 0x7F800000);
    Value* const quiet = b.CreateOr(infinite, 0x00400000);
    Value* result = b.CreateSelect(b.CreateICmpULT(size, b.getInt32(0x0400)), small, normal);
    result = b.CreateSelect(b.CreateICmpUGE(size, b.getInt32(0x7C00)), infinite, result);
    result = b.CreateSelect(b.CreateICmpUGT(size, b.getInt32(0x7C00)), quiet, result);
    b.CreateRet(b.CreateBitCast(b.CreateOr(result, sign), b.getFloatTy()));
    llvm::appendToCompilerUsed(module, {made});
}

// Rounds to nearest, ties to even.
void emit_truncation(const char* name,
                     llvm::Type* from,
                     llvm::Module& module,
                     llvm::IRBuilder<>& b) {
    const bool wide = from->isDoubleTy();
    const unsigned bits = wide ? 64 : 32;
    const unsigned fraction = wide ? 52 : 23;
    const int64_t bias = wide ? 1023 : 127;
    const unsigned shift = fraction - 10;
    llvm::Type* const ints = b.getIntNTy(bits);
    const auto number = [&](uint64_t n) { return llvm::ConstantInt::get(ints, n); };
    // The bits of 2^n.
    const auto power = [&](int64_t n) { return static_cast<uint64_t>(bias + n) << fraction; };
    llvm::Function* const made = begin(name, from, b.getHalfTy(), module, b);
    Value* const all = b.CreateBitCast(made->getArg(0), ints);
    Value* const size = b.CreateAnd(all, number((uint64_t{1} << (bits - 1)) - 1));
    Value* const odd = b.CreateAnd(b.CreateLShr(size, shift), number(1));
    const uint64_t half = (uint64_t{1} << (shift - 1)) - 1;
    Value* const rounded = b.CreateAdd(b.CreateAdd(size, number(half)), odd);
    Value* const normal = b.CreateLShr(
        b.CreateSub(rounded, number(static_cast<uint64_t>(bias - 15) << fraction)), shift);
    // The last bit of a sum with this number is worth 2^-24, as in a subnormal half.
    const int64_t aligned = static_cast<int64_t>(fraction) - 24;
    Value* const magic = b.CreateBitCast(number(power(aligned)), from);
    Value* const sum = b.CreateFAdd(b.CreateBitCast(size, from), magic);
    Value* const small = b.CreateSub(b.CreateBitCast(sum, ints), number(power(aligned)));
    const uint64_t infinity = power(bias + 1);
    Value* const payload = b.CreateAnd(b.CreateLShr(size, shift), number(0x3FF));
    Value* const nan = b.CreateOr(payload, number(0x7E00));
    Value* result = b.CreateSelect(b.CreateICmpULT(size, number(power(-14))), small, normal);
    result = b.CreateSelect(b.CreateICmpUGE(size, number(power(16))), number(0x7C00), result);
    result = b.CreateSelect(b.CreateICmpUGT(size, number(infinity)), nan, result);
    Value* const sign = b.CreateAnd(b.CreateLShr(all, bits - 16), number(0x8000));
    Value* const made_bits = b.CreateTrunc(b.CreateOr(result, sign), b.getInt16Ty());
    b.CreateRet(b.CreateBitCast(made_bits, b.getHalfTy()));
    llvm::appendToCompilerUsed(module, {made});
}

}  // namespace

void emit_half_conversions(llvm::Module& module) {
    llvm::IRBuilder<> b(module.getContext());
    emit_extension(module, b);
    emit_truncation("__truncsfhf2", b.getFloatTy(), module, b);
    emit_truncation("__truncdfhf2", b.getDoubleTy(), module, b);
}

}  // namespace lemma::codegen
