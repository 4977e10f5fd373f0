// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/emit_device.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/llvm/emit_memory.h"

namespace lemma::codegen {

namespace {

using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;

// What the driver must know about the kernel.
void annotate(llvm::Function& kernel, const char* what, int64_t value) {
    llvm::LLVMContext& context = kernel.getContext();
    auto* const number =
        llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), static_cast<uint64_t>(value));
    kernel.getParent()
        ->getOrInsertNamedMetadata("nvvm.annotations")
        ->addOperand(llvm::MDNode::get(context,
                                       {llvm::ValueAsMetadata::get(&kernel),
                                        llvm::MDString::get(context, what),
                                        llvm::ValueAsMetadata::get(number)}));
}

// The item of a thread. If all items fit 32 bits, it is computed in them.
Value* item_of(llvm::IRBuilder<>& b, const loop::Function& function, llvm::Function* kernel) {
    const bool small = function.items <= INT32_MAX - function.group;
    llvm::Type* const type = small ? b.getInt32Ty() : b.getInt64Ty();
    const auto special = [&](intrinsic::ID id) {
        return b.CreateZExt(b.CreateIntrinsic(id, {}, {}), type);
    };
    Value* const block = special(intrinsic::nvvm_read_ptx_sreg_ctaid_x);
    Value* const thread = special(intrinsic::nvvm_read_ptx_sreg_tid_x);
    Value* const size = llvm::ConstantInt::get(type, static_cast<uint64_t>(function.group));
    Value* const number =
        b.CreateAdd(b.CreateMul(block, size, "", true, true), thread, "", true, true);
    Value* const begin = kernel->getArg(static_cast<unsigned>(function.argument_count()));
    Value* const item = b.CreateAdd(b.CreateTrunc(begin, type), number, "", true, true);
    return small ? b.CreateZExt(item, b.getInt64Ty(), "", true) : item;
}

Value* begin_at_vectors(llvm::IRBuilder<>& b,
                        llvm::Function* kernel,
                        const std::vector<bool>& buffers) {
    Value* all = b.getInt64(0);
    for (unsigned i = 0; i < buffers.size(); ++i) {
        if (!buffers[i]) continue;
        all = b.CreateOr(all, b.CreatePtrToInt(kernel->getArg(i), b.getInt64Ty()));
    }
    return b.CreateICmpEQ(b.CreateAnd(all, b.getInt64(kDeviceVector - 1)), b.getInt64(0));
}

}  // namespace

void emit_device_entry(llvm::IRBuilder<>& b,
                       const loop::Function& function,
                       const std::string& name,
                       const DeviceBody& body) {
    llvm::Module& module = *body.code->getParent();
    llvm::LLVMContext& context = module.getContext();
    auto* const kernel = llvm::Function::Create(
        body.code->getFunctionType(), llvm::Function::ExternalLinkage, name, module);
    kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
    kernel->addFnAttr(llvm::Attribute::NoUnwind);
    annotate(*kernel, "kernel", 1);
    annotate(*kernel, "maxntidx", function.group);
    const auto arguments = static_cast<unsigned>(function.argument_count());
    for (unsigned i = 0; i < arguments; ++i) {
        kernel->addParamAttr(i, llvm::Attribute::NoAlias);
        if (!function.buffers[i].written) kernel->addParamAttr(i, llvm::Attribute::ReadOnly);
    }
    const auto block = [&](const char* label) {
        return llvm::BasicBlock::Create(context, label, kernel);
    };
    auto* const entry = block("entry");
    auto* const work = block("work");
    auto* const exit = block("exit");
    b.SetInsertPoint(entry);
    Value* const item = item_of(b, function, kernel);
    b.CreateCondBr(b.CreateICmpSLT(item, kernel->getArg(arguments + 1)), work, exit);
    b.SetInsertPoint(work);
    std::vector<Value*> given;
    for (unsigned i = 0; i < arguments; ++i) given.push_back(kernel->getArg(i));
    given.push_back(item);
    given.push_back(b.CreateAdd(item, b.getInt64(1), "", true, true));
    const auto call = [&](llvm::Function* code) {
        b.CreateCall(code, given);
        b.CreateBr(exit);
    };
    if (body.elsewhere) {
        auto* const whole = block("whole");
        auto* const elsewhere = block("elsewhere");
        b.CreateCondBr(begin_at_vectors(b, kernel, body.vectors), whole, elsewhere);
        b.SetInsertPoint(elsewhere);
        call(body.elsewhere);
        b.SetInsertPoint(whole);
    }
    call(body.code);
    b.SetInsertPoint(exit);
    b.CreateRetVoid();
}

namespace {

// Memory in the space that the items of a group share. Without elements, the launch of the kernel
// says how many there are.
llvm::GlobalVariable* shared_memory(llvm::Module& module,
                                    const std::string& name,
                                    llvm::Type* element,
                                    int64_t elements) {
    if (auto* const known = module.getNamedGlobal(name)) return known;
    auto* const type = llvm::ArrayType::get(element, static_cast<uint64_t>(elements));
    const bool own = elements > 0;
    auto* const memory = new llvm::GlobalVariable(
        module,
        type,
        false,
        own ? llvm::GlobalValue::InternalLinkage : llvm::GlobalValue::ExternalLinkage,
        own ? llvm::UndefValue::get(type) : nullptr,
        name,
        nullptr,
        llvm::GlobalValue::NotThreadLocal,
        kSharedSpace);
    memory->setAlignment(llvm::Align(kDeviceVector));
    return memory;
}

}  // namespace

Value* group_memory(llvm::IRBuilder<>& b,
                    const loop::Function& function,
                    loop::BufferId id,
                    llvm::Module& module) {
    llvm::GlobalVariable* memory = nullptr;
    int64_t begin = 0;
    if (function.group_memory() > loop::kPlainGroupMemory) {
        memory = shared_memory(module, "shared", b.getInt8Ty(), 0);
        begin = function.group_memory(id);
    } else {
        const loop::Buffer& own = function.buffers[id.value];
        const std::string name = fmt::format("shared{}", id.value - function.argument_count());
        memory =
            shared_memory(module, name, memory_type(module.getContext(), own.dtype), own.scratch);
    }
    Value* const at = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), memory, begin);
    return b.CreateAddrSpaceCast(at, b.getPtrTy());
}

Value* emit_exchange(llvm::IRBuilder<>& b, Value* value, int64_t distance) {
    llvm::Type* const type = value->getType();
    llvm::Type* const i32 = b.getInt32Ty();
    const auto swap = [&](Value* bits) {
        return b.CreateIntrinsic(
            intrinsic::nvvm_shfl_sync_bfly_i32,
            {},
            {b.getInt32(~0U), bits, b.getInt32(static_cast<uint32_t>(distance)), b.getInt32(31)});
    };
    const unsigned width = type->getScalarSizeInBits();
    if (width < 32) return b.CreateTrunc(swap(b.CreateZExt(value, i32)), type);
    if (width == 32) return b.CreateBitCast(swap(b.CreateBitCast(value, i32)), type);
    llvm::Type* const i64 = b.getInt64Ty();
    Value* const bits = b.CreateBitCast(value, i64);
    Value* const low = swap(b.CreateTrunc(bits, i32));
    Value* const high = swap(b.CreateTrunc(b.CreateLShr(bits, 32), i32));
    Value* const both =
        b.CreateOr(b.CreateShl(b.CreateZExt(high, i64), 32), b.CreateZExt(low, i64));
    return b.CreateBitCast(both, type);
}

void emit_barrier(llvm::IRBuilder<>& b) { b.CreateIntrinsic(intrinsic::nvvm_barrier0, {}, {}); }

Value* emit_question(llvm::IRBuilder<>& b, Value* value) {
    Value* const own = b.CreateZExt(value, b.getInt32Ty());
    return b.CreateICmpNE(b.CreateIntrinsic(intrinsic::nvvm_barrier0_or, {}, {own}), b.getInt32(0));
}

void emit_copy(llvm::IRBuilder<>& b, Value* to, Value* from, int64_t bytes, Value* wanted) {
    llvm::LLVMContext& context = b.getContext();
    Value* const target = b.CreateAddrSpaceCast(to, llvm::PointerType::get(context, kSharedSpace));
    Value* const source =
        b.CreateAddrSpaceCast(from, llvm::PointerType::get(context, kGlobalSpace));
    if (!wanted) {
        const intrinsic::ID id = bytes == 16  ? intrinsic::nvvm_cp_async_cg_shared_global_16
                                 : bytes == 8 ? intrinsic::nvvm_cp_async_ca_shared_global_8
                                              : intrinsic::nvvm_cp_async_ca_shared_global_4;
        b.CreateIntrinsic(id, {}, {target, source});
        return;
    }
    const intrinsic::ID id = bytes == 16  ? intrinsic::nvvm_cp_async_cg_shared_global_16_s
                             : bytes == 8 ? intrinsic::nvvm_cp_async_ca_shared_global_8_s
                                          : intrinsic::nvvm_cp_async_ca_shared_global_4_s;
    Value* const all = b.getInt32(static_cast<uint32_t>(bytes));
    b.CreateIntrinsic(id, {}, {target, source, b.CreateSelect(wanted, all, b.getInt32(0))});
}

void emit_end_of_batch(llvm::IRBuilder<>& b) {
    b.CreateIntrinsic(intrinsic::nvvm_cp_async_commit_group, {}, {});
}

void emit_await(llvm::IRBuilder<>& b, int64_t later) {
    b.CreateIntrinsic(
        intrinsic::nvvm_cp_async_wait_group, {}, {b.getInt32(static_cast<uint32_t>(later))});
}

static intrinsic::ID matrix_intrinsic(loop::MatrixProducts products) {
    switch (products) {
        case loop::MatrixProducts::Tf32:
            return intrinsic::nvvm_mma_m16n8k8_row_col_tf32;
        case loop::MatrixProducts::F16:
            return intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32;
        case loop::MatrixProducts::Bf16:
            return intrinsic::nvvm_mma_m16n8k16_row_col_bf16;
        case loop::MatrixProducts::U8:
            return intrinsic::nvvm_mma_m16n8k32_row_col_u8;
        case loop::MatrixProducts::U8I8:
            return intrinsic::nvvm_mma_m16n8k32_row_col_u8_s8;
        case loop::MatrixProducts::I8U8:
            return intrinsic::nvvm_mma_m16n8k32_row_col_s8_u8;
        case loop::MatrixProducts::I8:
            return intrinsic::nvvm_mma_m16n8k32_row_col_s8;
    }
    return intrinsic::not_intrinsic;
}

std::array<Value*, 4> emit_matrix(llvm::IRBuilder<>& b,
                                  loop::MatrixProducts products,
                                  const std::array<Value*, 4>& totals,
                                  const std::array<Value*, 4>& a,
                                  const std::array<Value*, 2>& words_of_b) {
    using loop::MatrixProducts;
    const auto word = [&](Value* v) -> Value* {
        if (products == MatrixProducts::F16) {
            return b.CreateBitCast(v, llvm::FixedVectorType::get(b.getHalfTy(), 2));
        }
        if (products != MatrixProducts::Tf32) return v;
        return b.CreateIntrinsic(
            intrinsic::nvvm_f2tf32_rna, {}, {b.CreateBitCast(v, b.getFloatTy())});
    };
    std::vector<Value*> arguments;
    for (Value* const v : a) arguments.push_back(word(v));
    for (Value* const v : words_of_b) arguments.push_back(word(v));
    arguments.insert(arguments.end(), totals.begin(), totals.end());
    Value* const all = b.CreateIntrinsic(matrix_intrinsic(products), {}, arguments);
    std::array<Value*, 4> result{};
    for (unsigned i = 0; i < 4; ++i) result[i] = b.CreateExtractValue(all, i);
    return result;
}

}  // namespace lemma::codegen
