// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/emit_model.h"

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/match.h"

namespace lemma::codegen {

const char* const kConstantSection = ".rodata.lemma";

namespace {

using llvm::Value;
using loop::FrozenMemory;
using loop::FrozenPlace;

// Above this number, items are short and read little (runtime/executable.cpp).
constexpr int64_t kMostBackwards = 256;
// Kernels may read so many bytes after a tensor (runtime/memory.h).
constexpr int64_t kSlack = 2 * loop::kFrozenAlign;

// The fields of NAME_instance.
enum Field : uint64_t { Arena, State, ParallelFor, Context, kFields };

class ModelEmitter {
public:
    ModelEmitter(const loop::FrozenPlan& plan, const std::string& name, llvm::Module& module)
        : plan_(plan),
          name_(name),
          module_(module),
          context_(module.getContext()),
          b_(context_),
          i8_(b_.getInt8Ty()),
          i64_(b_.getInt64Ty()),
          pointer_(llvm::PointerType::getUnqual(context_)),
          piece_type_(llvm::FunctionType::get(b_.getVoidTy(), {pointer_, i64_, i64_}, false)) {}

    void emit(const EmitOptions& options);

private:
    void emit_kernels(const EmitOptions& options);
    void emit_memory();
    void emit_backwards();
    void emit_start();
    void emit_run_on();
    void emit_reset();
    void emit_run();
    void emit_set_parallel();
    void emit_output_shapes();
    void emit_samples();
    // Calls the kernel of the shapes; returns the numbers, and whether the extents are wrong.
    std::pair<Value*, Value*> call_shapes(Value* extents);
    llvm::Value* static_instance();

    void emit(const loop::FrozenSteps& steps);
    void emit(const loop::FrozenCall& call);
    void emit(const loop::FrozenCopy& copy);
    void emit(const loop::FrozenClear& clear);
    void emit(const loop::FrozenPick& pick);
    void emit(const loop::FrozenIntrinsic&) { LEMMA_CHECK(false); }  // refused by freeze
    void emit(const loop::FrozenLoop& loop);
    void emit(const loop::FrozenBranch& branch);
    void emit_items(Value* entry, int64_t items);
    void emit_parallel(Value* entry, Value* items);
    Value* emit_count(const loop::FrozenLoop& loop);
    void begin_iteration(const loop::FrozenLoop& loop, Value* step);
    void write_results(const loop::FrozenLoop& loop, Value* step);
    void end_iteration(const loop::FrozenLoop& loop, Value* step);
    Value* next_carried(const loop::FrozenLoop::Carried& carried);
    Value* holds(const loop::FrozenCondition& condition);

    llvm::GlobalVariable* global(const std::string& what, int64_t bytes, bool constant);
    llvm::Function* function(const std::string& what, llvm::FunctionType* type, bool exported);
    llvm::BasicBlock* block(const char* what) {
        return llvm::BasicBlock::Create(context_, what, run_);
    }
    // Goes on if the condition is false; else the run ends with the error.
    void fail_if(Value* condition, loop::FrozenError error);
    llvm::FunctionType* parallel_type() {
        return llvm::FunctionType::get(b_.getVoidTy(), {pointer_, i64_, pointer_, pointer_}, false);
    }
    Value* number(int64_t n) { return llvm::ConstantInt::getSigned(i64_, n); }
    Value* shifted(Value* at, Value* bytes) { return b_.CreateGEP(i8_, at, bytes); }
    Value* address(const FrozenPlace& place);
    Value* part(const loop::FrozenPack& pack, Value* index) {
        return shifted(address(pack.first), b_.CreateMul(index, number(pack.stride)));
    }
    // A pointer of a struct that has nothing but pointers.
    Value* field(Value* from, uint64_t number) {
        return b_.CreateLoad(pointer_, b_.CreateConstGEP1_64(pointer_, from, number));
    }
    void point(uint32_t pointer, Value* to) { b_.CreateStore(to, pointers_[pointer]); }
    Value* load(const loop::FrozenNumber& number);
    void store(const loop::FrozenNumber& number, Value* value);
    // So many bytes, times the i64 at `count`.
    Value* bytes_of(int64_t bytes, const std::optional<FrozenPlace>& count) {
        if (!count) return number(bytes);
        return b_.CreateMul(load({*count, tensor::DType::I64}), number(bytes));
    }
    void copy_bytes(Value* to, Value* from, int64_t bytes) {
        if (bytes > 0) b_.CreateMemCpy(to, llvm::Align(1), from, llvm::Align(1), number(bytes));
    }

    const loop::FrozenPlan& plan_;
    const std::string& name_;
    llvm::Module& module_;
    llvm::LLVMContext& context_;
    llvm::IRBuilder<> b_;
    llvm::Type* i8_;
    llvm::Type* i64_;
    llvm::PointerType* pointer_;
    llvm::FunctionType* piece_type_;  // of kernels, and of what a parallel loop calls
    std::vector<llvm::Function*> kernels_;
    llvm::GlobalVariable* constants_ = nullptr;
    llvm::GlobalVariable* arena_ = nullptr;
    llvm::GlobalVariable* state_ = nullptr;
    llvm::GlobalVariable* started_ = nullptr;   // the state has its initial bytes
    llvm::GlobalVariable* parallel_ = nullptr;  // the parallel loop of the static instance
    llvm::Function* start_ = nullptr;
    llvm::Function* reset_ = nullptr;
    llvm::Function* backwards_ = nullptr;
    // Of the function that runs the model.
    llvm::Function* run_ = nullptr;
    std::vector<llvm::AllocaInst*> pointers_;
    llvm::AllocaInst* buffers_ = nullptr;
    llvm::AllocaInst* flag_ = nullptr;
    Value* own_arena_ = nullptr;  // of the instance
    Value* own_state_ = nullptr;
    Value* loop_function_ = nullptr;  // the parallel loop; may be null when the model runs
    Value* loop_context_ = nullptr;
    Value* odd_ = nullptr;  // whether the iteration of the innermost loop is
};

// ---- Kernels and memory -------------------------------------------------------------------------

llvm::Function* ModelEmitter::function(const std::string& what,
                                       llvm::FunctionType* type,
                                       bool exported) {
    auto* const made = llvm::Function::Create(
        type,
        exported ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage,
        name_ + what,
        module_);
    made->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", made));
    return made;
}

// Kernels with the same text are one function.
void ModelEmitter::emit_kernels(const EmitOptions& options) {
    std::map<std::string, llvm::Function*> known;
    for (size_t i = 0; i < plan_.kernels.size(); ++i) {
        const loop::Function& kernel = plan_.kernels[i].kernel.function;
        const auto [found, fresh] = known.try_emplace(loop::print(kernel));
        if (fresh) {
            const std::string name = fmt::format("{}_kernel{}", name_, i);
            codegen::emit(kernel, name, options, module_);
            found->second = module_.getFunction(name);
            found->second->setLinkage(llvm::Function::InternalLinkage);
        }
        kernels_.push_back(found->second);
    }
}

llvm::GlobalVariable* ModelEmitter::global(const std::string& what, int64_t bytes, bool constant) {
    auto* const type = llvm::ArrayType::get(i8_, static_cast<uint64_t>(bytes));
    auto* const made = new llvm::GlobalVariable(module_,
                                                type,
                                                constant,
                                                llvm::GlobalVariable::InternalLinkage,
                                                llvm::Constant::getNullValue(type),
                                                name_ + what);
    made->setAlignment(llvm::Align(static_cast<uint64_t>(loop::kFrozenAlign)));
    return made;
}

void ModelEmitter::emit_memory() {
    const auto bytes = std::ssize(plan_.constants) + std::ssize(plan_.initial_state);
    constants_ = global("_constants", bytes + kSlack, true);
    constants_->setSection(kConstantSection);
    constants_->setExternallyInitialized(true);  // LLVM must not count on the zeros
    arena_ = global("_arena", plan_.arena_bytes + kSlack, false);
    state_ = global("_state", std::ssize(plan_.initial_state) + kSlack, false);
    started_ = global("_started", 1, false);
    parallel_ = global("_parallel", 2 * 8, false);
}

// Walks the items of a kernel from the last to the first, one at a time.
void ModelEmitter::emit_backwards() {
    auto* const type = llvm::FunctionType::get(b_.getVoidTy(), {pointer_, pointer_, i64_}, false);
    backwards_ = function("_backwards", type, false);
    auto* const entry = b_.GetInsertBlock();
    auto* const body = llvm::BasicBlock::Create(context_, "item", backwards_);
    auto* const exit = llvm::BasicBlock::Create(context_, "exit", backwards_);
    b_.CreateBr(body);
    b_.SetInsertPoint(body);
    auto* const end = b_.CreatePHI(i64_, 2);
    end->addIncoming(backwards_->getArg(2), entry);
    Value* const item = b_.CreateSub(end, number(1));
    b_.CreateCall(piece_type_, backwards_->getArg(0), {backwards_->getArg(1), item, end});
    end->addIncoming(item, body);
    b_.CreateCondBr(b_.CreateICmpSGT(item, number(0)), body, exit);
    b_.SetInsertPoint(exit);
    b_.CreateRetVoid();
}

// `void NAME_start(const NAME_instance* self)`: clears the memory; variables get their initial
// values.
void ModelEmitter::emit_start() {
    start_ = function("_start", llvm::FunctionType::get(b_.getVoidTy(), {pointer_}, false), true);
    b_.CreateMemSet(
        field(start_->getArg(0), Arena), b_.getInt8(0), number(plan_.arena_bytes), llvm::Align(1));
    copy_bytes(field(start_->getArg(0), State),
               shifted(constants_, number(std::ssize(plan_.constants))),
               std::ssize(plan_.initial_state));
    b_.CreateRetVoid();
}

// An instance on the stack with the static memory: in the data of the object file, its addresses
// would need relocations.
Value* ModelEmitter::static_instance() {
    Value* const instance = b_.CreateAlloca(llvm::ArrayType::get(pointer_, kFields));
    const auto set = [&](Field field, Value* value) {
        b_.CreateStore(value, b_.CreateConstGEP1_64(pointer_, instance, field));
    };
    set(Arena, arena_);
    set(State, state_);
    set(ParallelFor, b_.CreateLoad(pointer_, parallel_));
    set(Context, b_.CreateLoad(pointer_, shifted(parallel_, number(8))));
    return instance;
}

// `void NAME_reset(void)`
void ModelEmitter::emit_reset() {
    reset_ = function("_reset", llvm::FunctionType::get(b_.getVoidTy(), false), true);
    b_.CreateCall(start_, {static_instance()});
    b_.CreateStore(b_.getInt8(1), started_);
    b_.CreateRetVoid();
}

// `int32_t NAME_run(const NAME_inputs* inputs, const NAME_outputs* outputs)`; with runtime extents
// also `const NAME_extents* extents`.
void ModelEmitter::emit_run() {
    std::vector<llvm::Type*> parameters(plan_.extents.empty() ? 2 : 3, pointer_);
    llvm::Function* const made =
        function("_run", llvm::FunctionType::get(b_.getInt32Ty(), parameters, false), true);
    Value* const instance = static_instance();
    auto* const fresh = llvm::BasicBlock::Create(context_, "fresh", made);
    auto* const ready = llvm::BasicBlock::Create(context_, "ready", made);
    b_.CreateCondBr(b_.CreateIsNull(b_.CreateLoad(i8_, started_)), fresh, ready);
    b_.SetInsertPoint(fresh);
    b_.CreateCall(reset_);
    b_.CreateBr(ready);
    b_.SetInsertPoint(ready);
    std::vector<Value*> arguments = {instance, made->getArg(0), made->getArg(1)};
    if (!plan_.extents.empty()) arguments.push_back(made->getArg(2));
    b_.CreateRet(b_.CreateCall(run_, arguments));
}

// `void NAME_set_parallel_for(NAME_parallel_for parallel_for, void* context)`
void ModelEmitter::emit_set_parallel() {
    auto* const type = llvm::FunctionType::get(b_.getVoidTy(), {pointer_, pointer_}, false);
    llvm::Function* const made = function("_set_parallel_for", type, true);
    b_.CreateStore(made->getArg(0), parallel_);
    b_.CreateStore(made->getArg(1), shifted(parallel_, number(8)));
    b_.CreateRetVoid();
}

std::pair<Value*, Value*> ModelEmitter::call_shapes(Value* extents) {
    const auto all = static_cast<uint64_t>(std::max<int64_t>(plan_.shapes->numbers, 1));
    Value* const numbers = b_.CreateAlloca(llvm::ArrayType::get(i64_, all));
    Value* const flag = b_.CreateAlloca(i64_);
    Value* const buffers = b_.CreateAlloca(llvm::ArrayType::get(pointer_, 3));
    b_.CreateStore(number(0), flag);
    uint64_t at = 0;
    for (Value* const buffer : {extents, numbers, flag}) {
        b_.CreateStore(buffer, b_.CreateConstGEP1_64(pointer_, buffers, at++));
    }
    b_.CreateCall(piece_type_, kernels_[plan_.shapes->kernel], {buffers, number(0), number(1)});
    return {numbers, b_.CreateIsNotNull(b_.CreateLoad(i64_, flag))};
}

// `int32_t NAME_output_shapes(const NAME_extents* extents, NAME_shapes* shapes)`
void ModelEmitter::emit_output_shapes() {
    if (!plan_.shapes) return;
    llvm::Function* const made =
        function("_output_shapes",
                 llvm::FunctionType::get(b_.getInt32Ty(), {pointer_, pointer_}, false),
                 true);
    int64_t wanted = 0;
    for (const loop::FrozenTensor& output : plan_.outputs) wanted += std::ssize(output.shape);
    const auto [numbers, wrong] = call_shapes(made->getArg(0));
    auto* const failed = llvm::BasicBlock::Create(context_, "failed", made);
    auto* const good = llvm::BasicBlock::Create(context_, "good", made);
    b_.CreateCondBr(wrong, failed, good);
    b_.SetInsertPoint(failed);
    b_.CreateRet(b_.getInt32(static_cast<uint32_t>(loop::FrozenError::Extents)));
    b_.SetInsertPoint(good);
    copy_bytes(made->getArg(1), numbers, wanted * 8);
    b_.CreateRet(b_.getInt32(0));
}

// `NAME_run_on` of a plan for one sample, whose steps are in `NAME_run_sample`: runs them for each
// sample, with pointers that move on.
void ModelEmitter::emit_samples() {
    if (!plan_.samples) return;
    llvm::Function* const sample = run_;
    std::vector<llvm::Type*> parameters(4, pointer_);
    run_ = function("_run_on", llvm::FunctionType::get(b_.getInt32Ty(), parameters, false), true);
    const auto pointers = [&](size_t count) {
        return b_.CreateAlloca(llvm::ArrayType::get(pointer_, std::max<size_t>(count, 1)));
    };
    Value* const in = pointers(plan_.inputs.size());
    Value* const out = pointers(plan_.outputs.size());
    fail_if(call_shapes(run_->getArg(3)).second, loop::FrozenError::Extents);
    Value* const count = b_.CreateLoad(i64_, run_->getArg(3));
    auto* const before = b_.GetInsertBlock();
    auto* const head = block("samples");
    auto* const body = block("sample");
    auto* const exit = block("end");
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    auto* const i = b_.CreatePHI(i64_, 2);
    i->addIncoming(number(0), before);
    b_.CreateCondBr(b_.CreateICmpSLT(i, count), body, exit);
    b_.SetInsertPoint(body);
    const auto move = [&](Value* to, Value* from, const std::vector<loop::FrozenTensor>& tensors) {
        for (uint64_t k = 0; k < tensors.size(); ++k) {
            Value* const begin = field(from, k);
            Value* const bytes = b_.CreateMul(i, number(tensors[k].sample_bytes));
            b_.CreateStore(shifted(begin, bytes), b_.CreateConstGEP1_64(pointer_, to, k));
        }
    };
    move(in, run_->getArg(1), plan_.inputs);
    move(out, run_->getArg(2), plan_.outputs);
    Value* const error = b_.CreateCall(sample, {run_->getArg(0), in, out});
    auto* const failed = block("failed");
    auto* const next = block("next");
    b_.CreateCondBr(b_.CreateIsNotNull(error), failed, next);
    b_.SetInsertPoint(failed);
    b_.CreateRet(error);
    b_.SetInsertPoint(next);
    i->addIncoming(b_.CreateAdd(i, number(1)), next);
    b_.CreateBr(head);
    b_.SetInsertPoint(exit);
    b_.CreateRet(b_.getInt32(0));
}

// ---- The run ------------------------------------------------------------------------------------

// `int32_t NAME_run_on(const NAME_instance* self, const NAME_inputs* inputs, const NAME_outputs*
// outputs)`: inputs and outputs are arrays of pointers. With runtime extents also `const
// NAME_extents* extents`, an array of numbers.
void ModelEmitter::emit_run_on() {
    const bool extents = !plan_.extents.empty() && !plan_.samples;
    std::vector<llvm::Type*> parameters(extents ? 4 : 3, pointer_);
    run_ = function(plan_.samples ? "_run_sample" : "_run_on",
                    llvm::FunctionType::get(b_.getInt32Ty(), parameters, false),
                    !plan_.samples);
    size_t most = 1;
    for (const loop::FrozenKernel& kernel : plan_.kernels) {
        most = std::max(most, kernel.kernel.function.buffers.size());
    }
    buffers_ = b_.CreateAlloca(llvm::ArrayType::get(pointer_, most));
    flag_ = b_.CreateAlloca(i64_);
    for (uint32_t i = 0; i < plan_.pointers; ++i) pointers_.push_back(b_.CreateAlloca(pointer_));
    for (llvm::AllocaInst* const pointer : pointers_) {
        b_.CreateStore(llvm::ConstantPointerNull::get(pointer_), pointer);
    }
    own_arena_ = field(run_->getArg(0), Arena);
    own_state_ = field(run_->getArg(0), State);
    loop_function_ = field(run_->getArg(0), ParallelFor);
    loop_context_ = field(run_->getArg(0), Context);
    emit(plan_.steps);
    b_.CreateRet(b_.getInt32(0));
}

Value* ModelEmitter::address(const FrozenPlace& place) {
    const auto base = [&]() -> Value* {
        switch (place.memory) {
            case FrozenMemory::Constant:
                return constants_;
            case FrozenMemory::Arena:
                return own_arena_;
            case FrozenMemory::State:
                return own_state_;
            case FrozenMemory::Input:
                return field(run_->getArg(1), place.number);
            case FrozenMemory::Output:
                return field(run_->getArg(2), place.number);
            case FrozenMemory::Moving:
                return b_.CreateLoad(pointer_, pointers_[place.number]);
            case FrozenMemory::Flag:
                return flag_;
            case FrozenMemory::Extents:
                return run_->getArg(3);
        }
        LEMMA_CHECK(false);
        return nullptr;
    }();
    return place.offset == 0 ? base : shifted(base, number(place.offset));
}

void ModelEmitter::fail_if(Value* condition, loop::FrozenError error) {
    auto* const failed = block("failed");
    auto* const good = block("good");
    b_.CreateCondBr(condition, failed, good);
    b_.SetInsertPoint(failed);
    b_.CreateRet(b_.getInt32(static_cast<uint32_t>(error)));
    b_.SetInsertPoint(good);
}

// An integer of any type or a bool, as tensor::integer_at reads it.
Value* ModelEmitter::load(const loop::FrozenNumber& from) {
    const auto bits = static_cast<unsigned>(tensor::dtype_size(from.dtype)) * 8;
    Value* const value =
        b_.CreateAlignedLoad(b_.getIntNTy(bits), address(from.place), llvm::Align(bits / 8));
    if (from.dtype == tensor::DType::Bool) return b_.CreateZExt(b_.CreateIsNotNull(value), i64_);
    return tensor::is_signed(from.dtype) ? b_.CreateSExt(value, i64_) : b_.CreateZExt(value, i64_);
}

void ModelEmitter::store(const loop::FrozenNumber& to, Value* value) {
    const auto bits = static_cast<unsigned>(tensor::dtype_size(to.dtype)) * 8;
    b_.CreateAlignedStore(
        b_.CreateTrunc(value, b_.getIntNTy(bits)), address(to.place), llvm::Align(bits / 8));
}

// ---- Steps --------------------------------------------------------------------------------------

void ModelEmitter::emit(const loop::FrozenSteps& steps) {
    for (const loop::FrozenStep& step : steps) {
        match(step.kind, [&](const auto& kind) { emit(kind); });
    }
}

void ModelEmitter::emit(const loop::FrozenCall& call) {
    const loop::Function& kernel = plan_.kernels[call.kernel].kernel.function;
    LEMMA_CHECK(call.places.size() == kernel.buffers.size());
    bool flagged = false;
    for (size_t i = 0; i < call.places.size(); ++i) {
        if (call.places[i].memory == FrozenMemory::Flag && !flagged) {
            flagged = true;
            b_.CreateStore(number(0), flag_);
        }
        b_.CreateStore(address(call.places[i]), b_.CreateConstGEP1_64(pointer_, buffers_, i));
    }
    if (call.items) {
        emit_parallel(kernels_[call.kernel], load({*call.items, tensor::DType::I64}));
    } else if (call.alone) {
        b_.CreateCall(
            piece_type_, kernels_[call.kernel], {buffers_, number(0), number(kernel.items)});
    } else if (kernel.items > 0) {
        emit_items(kernels_[call.kernel], kernel.items);
    }
    if (!flagged) return;
    fail_if(b_.CreateIsNotNull(b_.CreateLoad(i64_, flag_)), call.error);
}

// A runtime number of items: in the caller's parallel loop if there is one and the items are
// several.
void ModelEmitter::emit_parallel(Value* entry, Value* items) {
    auto* const parallel = block("parallel");
    auto* const serial = block("serial");
    auto* const done = block("done");
    Value* const several = b_.CreateICmpSGT(items, number(1));
    b_.CreateCondBr(b_.CreateAnd(several, b_.CreateIsNotNull(loop_function_)), parallel, serial);
    b_.SetInsertPoint(parallel);
    b_.CreateCall(parallel_type(), loop_function_, {loop_context_, items, entry, buffers_});
    b_.CreateBr(done);
    b_.SetInsertPoint(serial);
    b_.CreateCall(piece_type_, entry, {buffers_, number(0), items});
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
}

// All items: in the caller's parallel loop if there is one; else here. Every other iteration of a
// loop walks them backwards, because the weights read last are still in the cache.
void ModelEmitter::emit_items(Value* entry, int64_t items) {
    const auto forwards = [&] {
        b_.CreateCall(piece_type_, entry, {buffers_, number(0), number(items)});
    };
    if (items == 1) return forwards();
    auto* const parallel = block("parallel");
    auto* const serial = block("serial");
    auto* const done = block("done");
    b_.CreateCondBr(b_.CreateIsNotNull(loop_function_), parallel, serial);
    b_.SetInsertPoint(parallel);
    b_.CreateCall(parallel_type(), loop_function_, {loop_context_, number(items), entry, buffers_});
    b_.CreateBr(done);
    b_.SetInsertPoint(serial);
    if (odd_ && items <= kMostBackwards) {
        auto* const back = block("backwards");
        auto* const forth = block("forwards");
        b_.CreateCondBr(odd_, back, forth);
        b_.SetInsertPoint(back);
        b_.CreateCall(backwards_, {entry, buffers_, number(items)});
        b_.CreateBr(done);
        b_.SetInsertPoint(forth);
    }
    forwards();
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
}

// A loop for each axis.
void ModelEmitter::emit(const loop::FrozenCopy& copy) {
    const std::function<void(size_t, Value*, Value*)> along =
        [&](size_t axis, Value* to, Value* from) {
            if (axis == copy.axes.size()) {
                if (!copy.count) return copy_bytes(to, from, copy.bytes);
                Value* const bytes = bytes_of(copy.bytes, copy.count);
                b_.CreateMemCpy(to, llvm::Align(1), from, llvm::Align(1), bytes);
                return;
            }
            const loop::FrozenCopy::Axis& a = copy.axes[axis];
            if (a.extent <= 0) return;
            auto* const before = b_.GetInsertBlock();
            auto* const body = block("copy");
            auto* const exit = block("copied");
            b_.CreateBr(body);
            b_.SetInsertPoint(body);
            auto* const i = b_.CreatePHI(i64_, 2);
            i->addIncoming(number(0), before);
            along(axis + 1,
                  shifted(to, b_.CreateMul(i, number(a.to_stride))),
                  shifted(from, b_.CreateMul(i, number(a.from_stride))));
            Value* const next = b_.CreateAdd(i, number(1));
            i->addIncoming(next, b_.GetInsertBlock());
            b_.CreateCondBr(b_.CreateICmpSLT(next, number(a.extent)), body, exit);
            b_.SetInsertPoint(exit);
        };
    along(0, address(copy.to), address(copy.from));
}

void ModelEmitter::emit(const loop::FrozenClear& clear) {
    b_.CreateMemSet(
        address(clear.to), b_.getInt8(0), bytes_of(clear.bytes, clear.count), llvm::Align(1));
}

void ModelEmitter::emit(const loop::FrozenPick& pick) {
    Value* const count = load({pick.count, tensor::DType::I64});
    point(pick.pointer,
          b_.CreateSelect(
              b_.CreateICmpSGT(count, number(0)), address(pick.from), address(pick.otherwise)));
}

Value* ModelEmitter::holds(const loop::FrozenCondition& condition) {
    emit(condition.steps);
    return b_.CreateIsNotNull(load({condition.value, tensor::DType::Bool}));
}

void ModelEmitter::emit(const loop::FrozenBranch& branch) {
    auto* const exit = block("fi");
    for (const loop::FrozenBranch::Arm& arm : branch.arms) {
        llvm::BasicBlock* otherwise = nullptr;
        if (arm.condition) {
            Value* const taken = holds(*arm.condition);
            auto* const then = block("then");
            otherwise = block("else");
            b_.CreateCondBr(taken, then, otherwise);
            b_.SetInsertPoint(then);
        }
        emit(arm.body);
        for (size_t i = 0; i < arm.results.size(); ++i) {
            point(branch.outputs[i], address(arm.results[i]));
        }
        b_.CreateBr(exit);
        if (!otherwise) break;
        b_.SetInsertPoint(otherwise);
    }
    if (branch.arms.empty() || branch.arms.back().condition) b_.CreateBr(exit);
    b_.SetInsertPoint(exit);
}

// ---- Loops (runtime/control.cpp) ----------------------------------------------------------------

// The upper bound of the iterations.
Value* ModelEmitter::emit_count(const loop::FrozenLoop& loop) {
    Value* const count = number(loop.count);
    if (!loop.dynamic_count) return count;
    Value* const wanted = load(*loop.dynamic_count);
    Value* const more = b_.CreateICmpSGT(wanted, count);
    if (!loop.items.empty()) fail_if(more, loop::FrozenError::Items);
    return b_.CreateSelect(more, count, wanted);
}

void ModelEmitter::begin_iteration(const loop::FrozenLoop& loop, Value* step) {
    if (loop.index) store(*loop.index, step);
    for (const loop::FrozenLoop::Item& item : loop.items) {
        if (item.pack.count < loop.count) {
            fail_if(b_.CreateICmpSGE(step, number(item.pack.count)), loop::FrozenError::Items);
        }
        point(item.seen, part(item.pack, step));
    }
}

void ModelEmitter::write_results(const loop::FrozenLoop& loop, Value* step) {
    if (loop.most_results < loop.count) {
        fail_if(b_.CreateICmpSGE(step, number(loop.most_results)), loop::FrozenError::Results);
    }
    Value* const odd = b_.CreateTrunc(step, b_.getInt1Ty());
    for (const loop::FrozenLoop::Written& written : loop.written) {
        Value* const to =
            written.pack
                ? part(*written.pack, step)
                : b_.CreateSelect(odd, address(written.slots[1]), address(written.slots[0]));
        point(written.result, to);
    }
}

Value* ModelEmitter::next_carried(const loop::FrozenLoop::Carried& carried) {
    using Passing = loop::FrozenLoop::Passing;
    if (carried.passing == Passing::Moves) return address(carried.result);
    Value* const seen = b_.CreateLoad(pointer_, pointers_[carried.seen]);
    if (carried.passing == Passing::Stays) return seen;
    Value* const first = address(carried.slots[0]);
    Value* const free =
        b_.CreateSelect(b_.CreateICmpEQ(seen, first), address(carried.slots[1]), first);
    b_.CreateMemMove(
        free, llvm::Align(1), address(carried.result), llvm::Align(1), number(carried.bytes));
    return free;
}

// Reads come before writes to memory that may overlap, and the other way round.
void ModelEmitter::end_iteration(const loop::FrozenLoop& loop, Value* step) {
    for (const loop::FrozenLoop::Collected& collected : loop.collected) {
        copy_bytes(part(collected.pack, step), address(collected.result), collected.bytes);
    }
    std::vector<Value*> next;
    for (const auto& carried : loop.carried) next.push_back(next_carried(carried));
    for (size_t i = 0; i < next.size(); ++i) point(loop.carried[i].seen, next[i]);
}

void ModelEmitter::emit(const loop::FrozenLoop& loop) {
    Value* const count = emit_count(loop);
    for (const loop::FrozenCopy& copy : loop.before) emit(copy);
    for (const auto& carried : loop.carried) point(carried.seen, address(carried.initial));
    auto* const before = b_.GetInsertBlock();
    auto* const head = block("loop");
    auto* const body = block("iteration");
    auto* const exit = block("end");
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    auto* const step = b_.CreatePHI(i64_, 2);
    step->addIncoming(number(0), before);
    // Whether a condition ended the loop, from each block that leads to the exit.
    std::vector<std::pair<llvm::BasicBlock*, bool>> ends = {{head, false}};
    b_.CreateCondBr(b_.CreateICmpSLT(step, count), body, exit);
    b_.SetInsertPoint(body);
    begin_iteration(loop, step);
    if (loop.pre) {
        Value* const go_on = holds(*loop.pre);
        ends.emplace_back(b_.GetInsertBlock(), true);
        auto* const then = block("then");
        b_.CreateCondBr(go_on, then, exit);
        b_.SetInsertPoint(then);
    }
    write_results(loop, step);
    Value* const outside = std::exchange(odd_, b_.CreateTrunc(step, b_.getInt1Ty()));
    emit(loop.body);
    odd_ = outside;
    end_iteration(loop, step);
    Value* const next = b_.CreateAdd(step, number(1));
    if (loop.post) {
        Value* const go_on = holds(*loop.post);
        ends.emplace_back(b_.GetInsertBlock(), true);
        step->addIncoming(next, b_.GetInsertBlock());
        b_.CreateCondBr(go_on, head, exit);
    } else {
        step->addIncoming(next, b_.GetInsertBlock());
        b_.CreateBr(head);
    }
    b_.SetInsertPoint(exit);
    auto* const ended = b_.CreatePHI(b_.getInt1Ty(), static_cast<unsigned>(ends.size()));
    for (const auto& [from, value] : ends) ended->addIncoming(b_.getInt1(value), from);
    if (loop.must_end) fail_if(b_.CreateNot(ended), loop::FrozenError::Unending);
    for (const auto& carried : loop.carried) {
        point(carried.outcome, b_.CreateLoad(pointer_, pointers_[carried.seen]));
    }
    for (const loop::FrozenCopy& copy : loop.after) emit(copy);
}

void ModelEmitter::emit(const EmitOptions& options) {
    emit_kernels(options);
    emit_memory();
    emit_backwards();
    emit_start();
    emit_run_on();
    emit_samples();
    emit_reset();
    emit_run();
    emit_set_parallel();
    emit_output_shapes();
}

}  // namespace

void emit_model(const loop::FrozenPlan& plan,
                const std::string& name,
                const EmitOptions& options,
                llvm::Module& module) {
    ModelEmitter(plan, name, module).emit(options);
}

}  // namespace lemma::codegen
