// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/emit_vectors.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <array>

#include "loop/ir/dots.h"

namespace lemma::codegen {

namespace {

using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

llvm::Type* vector_of(llvm::Type* scalar, unsigned lanes) {
    return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
}

// The type with as many lanes as the value, of so many bits.
llvm::Type* bits_of(llvm::IRBuilder<>& b, const Value* x, unsigned bits) {
    const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
    return vector_of(b.getIntNTy(bits), vector ? vector->getNumElements() : 1);
}

// The instruction for one signed and one unsigned vector.
Value* by_instruction(
    llvm::IRBuilder<>& b, unsigned lanes, Value* total, Value* of_unsigned, Value* of_signed) {
    const auto id = lanes == 4   ? intrinsic::x86_avx512_vpdpbusd_128
                    : lanes == 8 ? intrinsic::x86_avx512_vpdpbusd_256
                                 : intrinsic::x86_avx512_vpdpbusd_512;
    return b.CreateIntrinsic(id, {}, {total, of_unsigned, of_signed});
}

// Of vectors of i16: in each lane of i32, the sum of two products.
Value* pair_products(llvm::IRBuilder<>& b, unsigned lanes, Value* x, Value* y) {
    const auto id = lanes == 4   ? intrinsic::x86_sse2_pmadd_wd
                    : lanes == 8 ? intrinsic::x86_avx2_pmadd_wd
                                 : intrinsic::x86_avx512_pmaddw_d_512;
    return b.CreateIntrinsic(id, {}, {x, y});
}

}  // namespace

Value* emit_halves(llvm::IRBuilder<>& b, const loop::Expr& e, const std::vector<Value*>& v) {
    const int lanes = e.type.lanes;
    const int size = static_cast<int>(e.integer);
    std::vector<int> from;
    for (int i = 0; i < lanes; ++i) {
        const int group = i / (2 * size) * 2 * size;
        const int half = e.op == loop::Op::SecondHalves ? size : 0;
        const int vector = i % (2 * size) < size ? 0 : lanes;
        from.push_back(vector + group + half + i % size);
    }
    return b.CreateShuffleVector(v[0], v[1], from);
}

// Without an instruction, bytes become i16 or i32, so that nothing saturates.
Value* emit_dot_bytes(llvm::IRBuilder<>& b,
                      const std::vector<Value*>& v,
                      int64_t signs,
                      const EmitOptions& options) {
    const auto* const type = llvm::dyn_cast<llvm::FixedVectorType>(v[0]->getType());
    const unsigned lanes = type ? type->getNumElements() : 1;
    const bool first = (signs & 1) != 0;
    const bool second = (signs & 2) != 0;
    const bool vector = options.is_x86 && (lanes == 4 || lanes == 8 || lanes == 16);
    if (vector && options.has_byte_dots && first != second) {
        return by_instruction(b, lanes, v[0], first ? v[2] : v[1], first ? v[1] : v[2]);
    }
    Value* total = v[0];
    if (vector) {
        llvm::Type* const halves = vector_of(b.getInt16Ty(), 2 * lanes);
        const auto bytes = [&](Value* four, bool high, bool is_signed) {
            Value* const both = b.CreateBitCast(four, halves);
            Value* const up = high ? both : b.CreateShl(both, 8);
            return is_signed ? b.CreateAShr(up, 8) : b.CreateLShr(up, 8);
        };
        for (const bool high : {false, true}) {
            Value* const products =
                pair_products(b, lanes, bytes(v[1], high, first), bytes(v[2], high, second));
            total = b.CreateAdd(total, products);
        }
        return total;
    }
    for (unsigned i = 0; i < 4; ++i) {
        const auto byte = [&](Value* four, bool is_signed) {
            Value* const up = b.CreateShl(four, 24 - 8 * i);
            return is_signed ? b.CreateAShr(up, 24) : b.CreateLShr(up, 24);
        };
        total = b.CreateAdd(total, b.CreateMul(byte(v[1], first), byte(v[2], second)));
    }
    return total;
}

// Without an instruction, subnormal numbers count.
Value* emit_dot_bf16(llvm::IRBuilder<>& b,
                     const std::vector<Value*>& v,
                     const EmitOptions& options) {
    llvm::Type* const floats = v[0]->getType();
    const auto* const type = llvm::dyn_cast<llvm::FixedVectorType>(floats);
    const unsigned lanes = type ? type->getNumElements() : 1;
    if (options.has_bf16_dots && (lanes == 4 || lanes == 8 || lanes == 16)) {
        const auto id = lanes == 4   ? intrinsic::x86_avx512bf16_dpbf16ps_128
                        : lanes == 8 ? intrinsic::x86_avx512bf16_dpbf16ps_256
                                     : intrinsic::x86_avx512bf16_dpbf16ps_512;
        llvm::Type* const pairs = vector_of(b.getBFloatTy(), 2 * lanes);
        return b.CreateIntrinsic(
            id, {}, {v[0], b.CreateBitCast(v[1], pairs), b.CreateBitCast(v[2], pairs)});
    }
    const auto half = [&](Value* pair, bool second) {
        Value* const bits =
            second ? b.CreateAnd(pair, llvm::ConstantInt::get(pair->getType(), 0xFFFF0000U))
                   : b.CreateShl(pair, 16);
        return b.CreateBitCast(bits, floats);
    };
    Value* total = v[0];
    for (const bool second : {true, false}) {
        total = b.CreateIntrinsic(
            intrinsic::fma, {floats}, {half(v[1], second), half(v[2], second), total});
    }
    return total;
}

Value* emit_library(llvm::IRBuilder<>& b,
                    const loop::Expr& e,
                    const std::vector<Value*>& v,
                    llvm::Module& module) {
    const bool single = e.type.kind == loop::Kind::F32;
    llvm::Type* const scalar = single ? b.getFloatTy() : b.getDoubleTy();
    const std::vector<llvm::Type*> parameters(v.size(), scalar);
    const std::string name = single ? std::string(e.name) + "f" : e.name;
    const auto function =
        module.getOrInsertFunction(name, llvm::FunctionType::get(scalar, parameters, false));
    if (e.type.lanes == 1) return b.CreateCall(function, v);
    Value* result = llvm::PoisonValue::get(llvm::FixedVectorType::get(scalar, e.type.lanes));
    for (unsigned i = 0; i < e.type.lanes; ++i) {
        std::vector<Value*> args;
        for (Value* const arg : v) args.push_back(b.CreateExtractElement(arg, i));
        result = b.CreateInsertElement(result, b.CreateCall(function, args), i);
    }
    return result;
}

Value* emit_compare(llvm::IRBuilder<>& b,
                    loop::Op op,
                    loop::Type from,
                    const std::vector<Value*>& v) {
    if (from.real()) {
        switch (op) {
            case loop::Op::Less:
                return b.CreateFCmpOLT(v[0], v[1]);
            case loop::Op::LessEqual:
                return b.CreateFCmpOLE(v[0], v[1]);
            case loop::Op::Equal:
                return b.CreateFCmpOEQ(v[0], v[1]);
            default:
                return b.CreateFCmpUNE(v[0], v[1]);
        }
    }
    switch (op) {
        case loop::Op::Less:
            return from.kind == loop::Kind::Bool ? b.CreateICmpULT(v[0], v[1])
                                                 : b.CreateICmpSLT(v[0], v[1]);
        case loop::Op::LessEqual:
            return from.kind == loop::Kind::Bool ? b.CreateICmpULE(v[0], v[1])
                                                 : b.CreateICmpSLE(v[0], v[1]);
        case loop::Op::Equal:
            return b.CreateICmpEQ(v[0], v[1]);
        default:
            return b.CreateICmpNE(v[0], v[1]);
    }
}

Value* emit_not(llvm::IRBuilder<>& b, Value* x) {
    auto* const test = llvm::dyn_cast<llvm::FCmpInst>(x);
    if (!test) return b.CreateNot(x);
    return b.CreateFCmp(test->getInversePredicate(), test->getOperand(0), test->getOperand(1));
}

// Without an instruction in two halves, because 2^n may underflow or overflow where the product
// does not. The first product is exact, so that both ways round once.
Value* emit_bf16(llvm::IRBuilder<>& b, Value* x) {
    llvm::Type* const i32 = bits_of(b, x, 32);
    Value* const bits = b.CreateBitCast(x, i32);
    Value* const odd = b.CreateAnd(b.CreateLShr(bits, 16), 1);
    Value* const half = llvm::ConstantInt::get(i32, 0x7FFF);
    Value* const rounded = b.CreateLShr(b.CreateAdd(b.CreateAdd(bits, half), odd), 16);
    Value* const nan = b.CreateOr(b.CreateLShr(bits, 16), 0x40);
    Value* const result = b.CreateSelect(b.CreateFCmpUNO(x, x), nan, rounded);
    return b.CreateTrunc(result, bits_of(b, x, 16));
}

Value* emit_upper_bits(llvm::IRBuilder<>& b, Value* x) {
    Value* const bits = b.CreateBitCast(x, bits_of(b, x, 32));
    return b.CreateTrunc(b.CreateLShr(bits, 16), bits_of(b, x, 16));
}

Value* emit_first_term(llvm::IRBuilder<>& b, Value* x) {
    llvm::Type* const i32 = bits_of(b, x, 32);
    const auto number = [&](uint32_t n) { return llvm::ConstantInt::get(i32, n); };
    Value* const bits = b.CreateBitCast(x, i32);
    Value* const size = b.CreateAnd(bits, number(0x7FFFFFFF));
    Value* const finite = b.CreateICmpULT(size, number(loop::kRoundsToInfinity));
    Value* const near = b.CreateAnd(b.CreateAdd(bits, number(0x8000)), number(0xFFFF0000));
    Value* const one = b.CreateOr(b.CreateAnd(bits, number(0x80000000)), number(0x3F800000));
    return b.CreateBitCast(b.CreateSelect(finite, near, one), x->getType());
}

Value* emit_scale(llvm::IRBuilder<>& b, Value* x, Value* n, const EmitOptions& options) {
    llvm::Type* const t = x->getType();
    const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(t);
    const unsigned lanes = vector ? vector->getNumElements() : 1;
    if (options.has_scale && lanes == 16) {
        Value* const all = b.getInt16(0xFFFF);
        Value* const rounding = b.getInt32(4);  // as the processor is set
        return b.CreateIntrinsic(
            intrinsic::x86_avx512_mask_scalef_ps_512, {}, {x, n, x, all, rounding});
    }
    llvm::Type* const ints = vector_of(b.getInt32Ty(), lanes);
    Value* const whole = b.CreateFreeze(b.CreateFPToSI(n, ints));
    Value* const half = b.CreateAShr(whole, 1);
    const auto power = [&](Value* k) {
        Value* const biased = b.CreateAdd(k, llvm::ConstantInt::get(ints, 127));
        return b.CreateBitCast(b.CreateShl(biased, 23), t);
    };
    return b.CreateFMul(b.CreateFMul(x, power(half)), power(b.CreateSub(whole, half)));
}

// The 64 bytes that describe the tile registers: palette 1, then the bytes of a row of each tile
// from byte 16 on, and the rows of each from byte 48 on.
void configure_tiles(llvm::IRBuilder<>& b, const std::vector<loop::TileRegister>& tiles) {
    constexpr size_t kPalette = 0, kBytes = 16, kRows = 48, kSize = 64;
    std::array<uint8_t, kSize> text{};
    text[kPalette] = 1;
    for (size_t i = 0; i < tiles.size(); ++i) {
        text[kBytes + 2 * i] = static_cast<uint8_t>(tiles[i].bytes);
        text[kRows + i] = static_cast<uint8_t>(tiles[i].rows);
    }
    auto* const memory = b.CreateAlloca(b.getInt64Ty(), b.getInt64(kSize / 8));
    memory->setAlignment(llvm::Align(kSize));
    for (size_t i = 0; i < kSize; i += 8) {
        uint64_t word = 0;
        for (size_t k = 8; k-- > 0;) word = word << 8 | text[i + k];
        b.CreateStore(b.getInt64(word), b.CreateConstGEP1_64(b.getInt64Ty(), memory, i / 8));
    }
    b.CreateIntrinsic(intrinsic::x86_ldtilecfg, {}, {memory});
}

void release_tiles(llvm::IRBuilder<>& b) { b.CreateIntrinsic(intrinsic::x86_tilerelease, {}, {}); }

void emit_tile(llvm::IRBuilder<>& b, const loop::TileStmt& s, Value* address, int64_t stride) {
    const auto tile = [&](int id) { return b.getInt8(static_cast<uint8_t>(id)); };
    const auto dot = [&] {
        switch (s.products) {
            case loop::TileProducts::Unsigned:
                return intrinsic::x86_tdpbuud;
            case loop::TileProducts::UnsignedSigned:
                return intrinsic::x86_tdpbusd;
            case loop::TileProducts::SignedUnsigned:
                return intrinsic::x86_tdpbsud;
            case loop::TileProducts::Signed:
                return intrinsic::x86_tdpbssd;
            case loop::TileProducts::Bf16:
                break;
        }
        return intrinsic::x86_tdpbf16ps;
    };
    Value* const step = b.getInt64(static_cast<uint64_t>(stride));
    switch (s.action) {
        case loop::TileAction::Zero:
            b.CreateIntrinsic(intrinsic::x86_tilezero, {}, {tile(s.tile)});
            return;
        case loop::TileAction::Dot:
            b.CreateIntrinsic(dot(), {}, {tile(s.tile), tile(s.a), tile(s.b)});
            return;
        case loop::TileAction::Load:
            b.CreateIntrinsic(intrinsic::x86_tileloadd64, {}, {tile(s.tile), address, step});
            return;
        case loop::TileAction::Store:
            b.CreateIntrinsic(intrinsic::x86_tilestored64, {}, {tile(s.tile), address, step});
    }
}

// A constant is compared second, so that NaN on the other side needs no extra test.
Value* emit_extreme(llvm::IRBuilder<>& b, Value* x, Value* y, bool least) {
    if (llvm::isa<llvm::Constant>(x)) std::swap(x, y);
    Value* const taken = least ? b.CreateFCmpOLT(y, x) : b.CreateFCmpOLT(x, y);
    Value* const chosen = b.CreateSelect(taken, y, x);  // one instruction; `x` if either is NaN
    if (llvm::isa<llvm::Constant>(y)) return chosen;
    return b.CreateSelect(b.CreateFCmpUNO(y, y), y, chosen);
}

}  // namespace lemma::codegen
