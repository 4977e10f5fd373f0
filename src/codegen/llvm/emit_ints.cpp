// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/emit_ints.h"

#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "codegen/llvm/emit_vectors.h"

namespace lemma::codegen {

namespace {

using llvm::Value;
using loop::IntRange;
using loop::Kind;
using loop::Op;

llvm::Type* with_width(llvm::Type* like, unsigned bits) {
    auto* const scalar = llvm::Type::getIntNTy(like->getContext(), bits);
    const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
    if (!vector) return scalar;
    return llvm::FixedVectorType::get(scalar, vector->getNumElements());
}

// Rounds down; the divisor is a positive constant.
Value* divided(llvm::IRBuilder<>& b, bool division, const std::vector<Value*>& v, bool positive) {
    if (positive) return division ? b.CreateUDiv(v[0], v[1]) : b.CreateURem(v[0], v[1]);
    Value* const zero = llvm::Constant::getNullValue(v[0]->getType());
    Value* const rest = b.CreateSRem(v[0], v[1]);
    Value* const down = b.CreateICmpSLT(rest, zero);
    if (!division) return b.CreateSelect(down, b.CreateAdd(rest, v[1]), rest);
    return b.CreateSub(b.CreateSDiv(v[0], v[1]), b.CreateZExt(down, v[0]->getType()));
}

bool is_comparison(Op op) {
    return op == Op::Less || op == Op::LessEqual || op == Op::Equal || op == Op::NotEqual;
}

}  // namespace

Value* narrowed(llvm::IRBuilder<>& b, Value* v) {
    auto* const cast = llvm::dyn_cast<llvm::CastInst>(v);
    const bool extended = cast && (llvm::isa<llvm::SExtInst>(v) || llvm::isa<llvm::ZExtInst>(v));
    if (extended && cast->getSrcTy()->getScalarSizeInBits() == 32) return cast->getOperand(0);
    return b.CreateTrunc(v, with_width(v->getType(), 32));
}

Value* widened(llvm::IRBuilder<>& b, Value* v, IntRange range) {
    llvm::Type* const wide = with_width(v->getType(), 64);
    return range.is_positive() ? b.CreateZExt(v, wide, "", true) : b.CreateSExt(v, wide);
}

Value* emit_small_int(llvm::IRBuilder<>& b,
                      const loop::Function& function,
                      loop::IntRanges& ranges,
                      const loop::Expr& e,
                      IntRange result,
                      const std::vector<Value*>& v) {
    const bool compares = is_comparison(e.op);
    const auto arguments = [&](size_t from) {
        return std::all_of(
            e.args.begin() + static_cast<ptrdiff_t>(from), e.args.end(), [&](loop::ExprId arg) {
                return function[arg].type.kind == Kind::Int && ranges.of(arg).fits_32_bits();
            });
    };
    if (!compares && (e.type.kind != Kind::Int || !result.fits_32_bits())) return nullptr;
    if (e.args.empty() || !arguments(e.op == Op::Select ? 1 : 0)) return nullptr;
    const auto small = [&](size_t i) { return narrowed(b, v[i]); };
    const bool above = result.is_positive();
    const auto whole = [&](Value* value) { return widened(b, value, result); };
    switch (e.op) {
        case Op::Less:
        case Op::LessEqual:
        case Op::Equal:
        case Op::NotEqual:
            return emit_compare(b, e.op, function[e.args[0]].type, {small(0), small(1)});
        case Op::Add:
            return whole(b.CreateAdd(small(0), small(1), "", false, true));
        case Op::Sub:
            return whole(b.CreateSub(small(0), small(1), "", false, true));
        case Op::Mul:
            return whole(b.CreateMul(small(0), small(1), "", false, true));
        case Op::Neg:
            return whole(b.CreateNSWNeg(small(0)));
        case Op::Min:
            return whole(b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, small(0), small(1)));
        case Op::Max:
            return whole(b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, small(0), small(1)));
        case Op::Select:
            return whole(b.CreateSelect(v[0], small(1), small(2)));
        case Op::Div:
        case Op::Mod: {
            const IntRange by = ranges.of(e.args[1]);
            if (by.low != by.high || by.low <= 0) return nullptr;
            const bool positive = ranges.of(e.args[0]).is_positive();
            const bool division = e.op == Op::Div;
            return widened(b,
                           divided(b, division, {small(0), small(1)}, positive),
                           above || !division ? IntRange{0, 0} : result);
        }
        default:
            return nullptr;
    }
}

// Each partial sum may be too large, but not the total: arithmetic wraps around.
Value* emit_small_sum(llvm::IRBuilder<>& b,
                      loop::IntRanges& ranges,
                      const loop::Address& address,
                      const std::vector<Value*>& vars,
                      Value* dynamic) {
    Value* sum = b.getInt32(0);
    for (const loop::AddressTerm& term : address.terms) {
        auto* const factor = b.getInt32(static_cast<uint32_t>(term.factor));
        sum = b.CreateAdd(sum, b.CreateMul(narrowed(b, vars[term.var.value]), factor));
    }
    if (dynamic) sum = b.CreateAdd(sum, narrowed(b, dynamic));
    return widened(b, sum, ranges.of(address));
}

Value* emit_division(llvm::IRBuilder<>& b, Division division, Value* dividend, Value* divisor) {
    llvm::Type* const t = dividend->getType();
    Value* const zero = llvm::Constant::getNullValue(t);
    Value* by_zero = nullptr;
    if (!division.positive) {
        Value* const least = llvm::ConstantInt::get(t, uint64_t{1} << 63);
        Value* const minus = llvm::ConstantInt::getSigned(t, -1);
        Value* const overflow =
            b.CreateAnd(b.CreateICmpEQ(dividend, least), b.CreateICmpEQ(divisor, minus));
        by_zero = b.CreateICmpEQ(divisor, zero);
        Value* const one = llvm::ConstantInt::get(t, 1);
        divisor = b.CreateSelect(b.CreateOr(by_zero, overflow), one, divisor);
    }
    Value* const quotient = b.CreateSDiv(dividend, divisor);
    Value* const rest = b.CreateSub(dividend, b.CreateMul(quotient, divisor));
    Value* const differ = b.CreateICmpSLT(b.CreateXor(rest, divisor), zero);
    Value* const down = b.CreateAnd(b.CreateICmpNE(rest, zero), differ);
    Value* result = division.quotient ? b.CreateSub(quotient, b.CreateZExt(down, t))
                                      : b.CreateSelect(down, b.CreateAdd(rest, divisor), rest);
    return by_zero ? b.CreateSelect(by_zero, zero, result) : result;
}

}  // namespace lemma::codegen
