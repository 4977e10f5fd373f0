// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/emit_memory.h"

#include <llvm/IR/Type.h>

#include "codegen/llvm/emit_vectors.h"

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
        case DType::BF16:
            return emit_bf16(b, v);
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

namespace {

llvm::Type* words_of(llvm::Type* bytes) {
    const unsigned count = llvm::cast<llvm::FixedVectorType>(bytes)->getNumElements() / 4;
    return llvm::FixedVectorType::get(llvm::Type::getInt32Ty(bytes->getContext()), count);
}

}  // namespace

Value* load_words(llvm::IRBuilder<>& b, llvm::Type* bytes, Value* at, llvm::Align align) {
    Value* const words = b.CreateAlignedLoad(words_of(bytes), at, align);
    Value* result = llvm::PoisonValue::get(bytes);
    const unsigned count = llvm::cast<llvm::FixedVectorType>(bytes)->getNumElements();
    for (unsigned i = 0; i < count; ++i) {
        Value* const word = b.CreateExtractElement(words, i / 4);
        Value* const byte = b.CreateTrunc(b.CreateLShr(word, i % 4 * 8), b.getInt8Ty());
        result = b.CreateInsertElement(result, byte, i);
    }
    return result;
}

void store_words(llvm::IRBuilder<>& b, Value* bytes, Value* at, llvm::Align align) {
    llvm::Type* const type = words_of(bytes->getType());
    Value* words = llvm::PoisonValue::get(type);
    const unsigned count = llvm::cast<llvm::FixedVectorType>(type)->getNumElements();
    for (unsigned i = 0; i < count; ++i) {
        Value* word = b.getInt32(0);
        for (unsigned k = 0; k < 4; ++k) {
            Value* const byte = b.CreateExtractElement(bytes, i * 4 + k);
            Value* const moved = b.CreateShl(b.CreateZExt(byte, b.getInt32Ty()), k * 8);
            word = b.CreateOr(word, moved);
        }
        words = b.CreateInsertElement(words, word, i);
    }
    b.CreateAlignedStore(words, at, align);
}

}  // namespace lemma::codegen
