// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/emit_memory.h"

#include <llvm/IR/Type.h>

namespace lemma::codegen {

using llvm::Value;
using tensor::DType;

namespace {

// With as many lanes as the value.
llvm::Type* like(llvm::Type* scalar, const Value* v) {
    const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    return vector ? llvm::FixedVectorType::get(scalar, vector->getNumElements()) : scalar;
}

}  // namespace

llvm::Type* memory_type(llvm::LLVMContext& context, DType dtype) {
    switch (dtype) {
        case DType::F16:
            return llvm::Type::getHalfTy(context);
        case DType::F32:
            return llvm::Type::getFloatTy(context);
        case DType::F64:
            return llvm::Type::getDoubleTy(context);
        default:
            return llvm::Type::getIntNTy(context,
                                         static_cast<unsigned>(tensor::dtype_size(dtype)) * 8);
    }
}

Value* from_memory(llvm::IRBuilder<>& b, Value* v, DType dtype) {
    llvm::Type* const i32 = like(b.getInt32Ty(), v);
    llvm::Type* const f32 = like(b.getFloatTy(), v);
    switch (dtype) {
        case DType::F16:
            return b.CreateFPExt(v, f32);
        case DType::BF16:
            return b.CreateBitCast(b.CreateShl(b.CreateZExt(v, i32), 16), f32);
        case DType::F32:
        case DType::F64:
        case DType::I64:
        case DType::U64:
            return v;
        case DType::Bool:
            return b.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
        default: {
            llvm::Type* const wide = like(b.getInt64Ty(), v);
            return tensor::is_signed(dtype) ? b.CreateSExt(v, wide) : b.CreateZExt(v, wide);
        }
    }
}

Value* to_memory(llvm::IRBuilder<>& b, Value* v, DType dtype) {
    llvm::Type* const stored = like(memory_type(b.getContext(), dtype), v);
    switch (dtype) {
        case DType::F16:
            return b.CreateFPTrunc(v, stored);
        case DType::BF16: {
            // Rounds to nearest, ties to even; NaN stays NaN.
            llvm::Type* const i32 = like(b.getInt32Ty(), v);
            Value* const bits = b.CreateBitCast(v, i32);
            Value* const odd = b.CreateAnd(b.CreateLShr(bits, 16), 1);
            Value* const half = llvm::ConstantInt::get(i32, 0x7FFF);
            Value* const rounded = b.CreateLShr(b.CreateAdd(b.CreateAdd(bits, half), odd), 16);
            Value* const nan = b.CreateOr(b.CreateLShr(bits, 16), 0x40);
            return b.CreateTrunc(b.CreateSelect(b.CreateFCmpUNO(v, v), nan, rounded), stored);
        }
        case DType::F32:
        case DType::F64:
        case DType::I64:
        case DType::U64:
            return v;
        case DType::Bool:
            return b.CreateZExt(v, stored);
        default:
            return b.CreateTrunc(v, stored);
    }
}

}  // namespace lemma::codegen
