// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/emit.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "base/match.h"
#include "codegen/llvm/emit_device.h"
#include "codegen/llvm/emit_ints.h"
#include "codegen/llvm/emit_memory.h"
#include "codegen/llvm/emit_vectors.h"
#include "loop/ir/bounds.h"
#include "loop/ir/int_ranges.h"

namespace lemma::codegen {

namespace {

using llvm::Value;
using loop::ExprId;
using loop::Kind;
using loop::Op;
using tensor::DType;

class Emitter {
public:
    Emitter(const loop::Function& function, const EmitOptions& options, llvm::Module& module)
        : f_(function),
          options_(options),
          module_(module),
          context_(module.getContext()),
          b_(context_),
          i64_(llvm::Type::getInt64Ty(context_)),
          pointer_(llvm::PointerType::getUnqual(context_)),
          vars_(function.vars.size()),
          bound_(function.vars.size()),
          divisors_(function.vars.size(), 1) {
        if (function.group > 0) ranges_.emplace(function);
        if (!options.fast) return;
        llvm::FastMathFlags flags;
        flags.setAllowReciprocal();
        flags.setApproxFunc();
        flags.setAllowContract();
        b_.setFastMathFlags(flags);
    }

    void emit(const std::string& name);
    // The items of a range, for a device. `aligned`: the buffers that vectors are loaded from and
    // stored to begin at whole vectors.
    DeviceBody emit_device_body(const std::string& name, bool aligned);

private:
    llvm::Function* emit_body(const std::string& name);
    void emit_entry(const std::string& name, llvm::Function* inner);
    void block(const loop::Block& statements);
    void emit_for(const loop::For& s);
    void emit_if(const loop::If& s);
    void bind(loop::VarId var, Value* value) {
        vars_[var.value] = value;
        bound_[var.value] = ++bindings_;
    }
    void emit_store(const loop::StoreStmt& s);
    void emit_tile(const loop::TileStmt& s);
    void copy(const loop::CopyStmt& s);
    void multiply(const loop::MatrixStmt& s);
    // Runs the body with a copy of the value table, because values of the body are not defined
    // after it.
    template <class Body>
    void scope(Body&& body) {
        const size_t before = log_.size();
        const size_t steps_before = step_log_.size();
        body();
        while (log_.size() > before) {
            values_.erase(log_.back());
            log_.pop_back();
        }
        while (step_log_.size() > steps_before) {
            steps_.erase(step_log_.back());
            step_log_.pop_back();
        }
    }

    Value* value(ExprId id);
    Value* compute(ExprId id);
    Value* arithmetic(const loop::Expr& e, const std::vector<Value*>& v);
    Value* divide(const loop::Expr& e, const std::vector<Value*>& v);
    Value* convert(Value* v, loop::Type from, loop::Type to);
    Value* convert_limited(const loop::Expr& e, Value* v);
    Value* over_lanes(const loop::Expr& e, Value* v);
    Value* extreme_lane(Value* v, bool least);
    template <class Combine>
    Value* by_pairs(Value* v, const Combine& combine);
    Value* constant(const loop::Expr& e);
    Value* load(const loop::Expr& e);
    Value* load_strided(llvm::Type* stored, const loop::Expr& e, llvm::Align align, Value* mask);
    // Vectors of bytes, which a device would take one by one.
    bool in_words(llvm::Type* vector, llvm::Align align) const {
        return ranges_ && align.value() >= 4 && vector->getScalarSizeInBits() == 8 &&
               vector->getPrimitiveSizeInBits() % 32 == 0;
    }
    llvm::Align alignment(loop::BufferId buffer, const loop::Address& address, unsigned lanes);
    llvm::Align shared_alignment(const loop::Address& at, int64_t size) const;
    Value* pointer(loop::BufferId buffer, const loop::Address& address);
    // The address `factor` times `index` elements behind `at`; without an index, `factor` elements.
    Value* step(llvm::Type* element, Value* at, Value* index, int64_t factor);
    Value* pointers(loop::BufferId buffer, const loop::Address& address, unsigned lanes);
    bool scattered(const loop::Address& address) const {
        const bool dynamic = address.dynamic.valid() && f_[address.dynamic].type.lanes > 1;
        return dynamic || address.lane_stride != 1;
    }

    // The elements are so close that loading whole vectors is faster than loading each element.
    bool is_strided(const loop::Address& address) const {
        const bool dynamic = address.dynamic.valid() && f_[address.dynamic].type.lanes > 1;
        return !dynamic && address.lane_stride >= 2 && address.lane_stride <= 4;
    }

    llvm::Type* scalar_type(Kind kind);
    llvm::Type* type(loop::Type t) { return lanes_of(scalar_type(t.kind), t.lanes); }
    llvm::Type* lanes_of(llvm::Type* scalar, unsigned lanes) {
        return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
    }
    llvm::Type* memory_type(DType dtype) { return codegen::memory_type(context_, dtype); }
    Value* number(int64_t n) { return llvm::ConstantInt::get(i64_, static_cast<uint64_t>(n)); }
    Value* call(llvm::Intrinsic::ID id, llvm::Type* overloaded, std::vector<Value*> args) {
        return b_.CreateIntrinsic(id, {overloaded}, args);
    }
    Value* all_true(unsigned lanes) {
        return llvm::ConstantInt::getTrue(lanes_of(b_.getInt1Ty(), lanes));
    }

    const loop::Function& f_;
    const EmitOptions& options_;
    llvm::Module& module_;
    llvm::LLVMContext& context_;
    llvm::IRBuilder<> b_;
    llvm::Type* i64_;
    llvm::Type* pointer_;
    llvm::Function* inner_ = nullptr;
    std::vector<Value*> vars_;
    std::vector<uint32_t> bound_;    // by variable: the order in which they got their values
    std::vector<int64_t> divisors_;  // by variable: what it is a multiple of
    uint32_t bindings_ = 0;
    std::vector<llvm::AllocaInst*> locals_;
    std::vector<Value*> buffers_;
    std::optional<loop::IntRanges> ranges_;  // of a kernel for a device
    bool aligned_ = false;
    std::vector<bool> vectors_;  // by buffer: there are accesses to whole vectors
    std::unordered_map<ExprId, Value*, IdHash> values_;
    std::vector<ExprId> log_;
    // Most addresses of a kernel share their first steps.
    using Step = std::tuple<llvm::Type*, Value*, Value*, int64_t>;
    std::map<Step, Value*> steps_;
    std::vector<Step> step_log_;
};

llvm::Type* Emitter::scalar_type(Kind kind) {
    switch (kind) {
        case Kind::Bool:
            return b_.getInt1Ty();
        case Kind::I32:
            return b_.getInt32Ty();
        case Kind::Int:
            return i64_;
        case Kind::F32:
            return b_.getFloatTy();
        case Kind::F64:
            return b_.getDoubleTy();
    }
    return nullptr;
}

// ---- Functions and statements -------------------------------------------------------------------

void Emitter::emit(const std::string& name) {
    if (f_.group == 0) return emit_entry(name, emit_body(name + ".body"));
    DeviceBody whole = emit_device_body(name + ".body", true);
    const bool any = std::ranges::find(whole.vectors, true) != whole.vectors.end();
    if (any && !f_.aligned)
        whole.elsewhere =
            Emitter(f_, options_, module_).emit_device_body(name + ".any", false).code;
    emit_device_entry(b_, f_, name, whole);
}

DeviceBody Emitter::emit_device_body(const std::string& name, bool aligned) {
    aligned_ = aligned;
    vectors_.assign(f_.argument_count(), false);
    llvm::Function* const body = emit_body(name);
    return {body, vectors_};
}

// Buffers are arguments of a separate function, because LLVM's `noalias` applies to arguments only.
llvm::Function* Emitter::emit_body(const std::string& name) {
    const size_t arguments = f_.argument_count();
    std::vector<llvm::Type*> parameters(arguments, pointer_);
    parameters.push_back(i64_);
    parameters.push_back(i64_);
    auto* const signature = llvm::FunctionType::get(b_.getVoidTy(), parameters, false);
    inner_ = llvm::Function::Create(signature, llvm::Function::InternalLinkage, name, module_);
    const bool device = f_.group > 0;
    inner_->addFnAttr(device ? llvm::Attribute::AlwaysInline : llvm::Attribute::NoInline);
    inner_->addFnAttr(llvm::Attribute::NoUnwind);
    for (unsigned i = 0; i < arguments; ++i) {
        inner_->addParamAttr(i, llvm::Attribute::NoAlias);
        buffers_.push_back(inner_->getArg(i));
    }
    const auto count = static_cast<unsigned>(arguments);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", inner_));
    for (const loop::Local& local : f_.locals) locals_.push_back(b_.CreateAlloca(type(local.type)));
    for (size_t i = arguments; i < f_.buffers.size(); ++i) {
        const loop::Buffer& own = f_.buffers[i];
        if (own.shared) {
            buffers_.push_back(group_memory(b_, f_, make_id<loop::BufferId>(i), module_));
            continue;
        }
        Value* const elements = number(own.scratch);
        auto* const memory = b_.CreateAlloca(memory_type(own.dtype), elements);
        memory->setAlignment(llvm::Align(loop::kTileBytes));
        buffers_.push_back(memory);
    }
    if (!f_.tiles.empty()) configure_tiles(b_, f_.tiles);
    auto* const loop = llvm::BasicBlock::Create(context_, "item", inner_);
    auto* const exit = llvm::BasicBlock::Create(context_, "exit", inner_);
    auto* const entry = b_.GetInsertBlock();
    b_.CreateCondBr(b_.CreateICmpSLT(inner_->getArg(count), inner_->getArg(count + 1)), loop, exit);
    b_.SetInsertPoint(loop);
    auto* const item = b_.CreatePHI(i64_, 2);
    item->addIncoming(inner_->getArg(count), entry);
    if (f_.item.valid()) bind(f_.item, item);
    scope([&] { block(f_.body); });
    auto* const next = b_.CreateAdd(item, number(1), "", true, true);
    item->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(next, inner_->getArg(count + 1)), loop, exit);
    b_.SetInsertPoint(exit);
    if (!f_.tiles.empty()) release_tiles(b_);
    b_.CreateRetVoid();
    return inner_;
}

void Emitter::emit_entry(const std::string& name, llvm::Function* inner) {
    auto* const signature = llvm::FunctionType::get(b_.getVoidTy(), {pointer_, i64_, i64_}, false);
    auto* const outer =
        llvm::Function::Create(signature, llvm::Function::ExternalLinkage, name, module_);
    outer->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", outer));
    std::vector<Value*> arguments;
    for (size_t i = 0; i < f_.argument_count(); ++i) {
        Value* const at = b_.CreateConstInBoundsGEP1_64(pointer_, outer->getArg(0), i);
        arguments.push_back(b_.CreateLoad(pointer_, at));
    }
    arguments.push_back(outer->getArg(1));
    arguments.push_back(outer->getArg(2));
    b_.CreateCall(inner, arguments);
    b_.CreateRetVoid();
}

void Emitter::block(const loop::Block& statements) {
    for (const loop::Stmt& statement : statements) {
        match(
            statement.node,
            [&](const loop::For& s) { emit_for(s); },
            [&](const loop::If& s) { emit_if(s); },
            [&](const loop::StoreStmt& s) { emit_store(s); },
            [&](const loop::Set& s) { b_.CreateStore(value(s.value), locals_[s.local.value]); },
            [&](const loop::Let& s) { value(s.value); },
            [&](const loop::Bind& s) { bind(s.var, value(s.value)); },
            [&](const loop::Prefetch& s) {
                Value* const at = pointer(s.buffer, s.address);
                b_.CreateIntrinsic(llvm::Intrinsic::prefetch,
                                   {pointer_},
                                   {at, b_.getInt32(0), b_.getInt32(2), b_.getInt32(1)});
            },
            [&](const loop::TileStmt& s) { emit_tile(s); },
            [&](const loop::Barrier& s) {
                if (!s.value.valid()) return emit_barrier(b_);
                b_.CreateStore(emit_question(b_, value(s.value)), locals_[s.any.value]);
            },
            [&](const loop::Exchange& s) {
                Value* const other = codegen::emit_exchange(b_, value(s.value), s.distance);
                b_.CreateStore(other, locals_[s.local.value]);
            },
            [&](const loop::CopyStmt& s) { copy(s); },
            [&](const loop::MatrixStmt& s) { multiply(s); });
    }
}

void Emitter::copy(const loop::CopyStmt& s) {
    if (s.action == loop::CopyAction::EndBatch) return emit_end_of_batch(b_);
    if (s.action == loop::CopyAction::Await) return emit_await(b_, s.later);
    const int64_t bytes = s.elements * tensor::dtype_size(f_.buffers[s.to.value].dtype);
    Value* const wanted = s.wanted.valid() ? value(s.wanted) : nullptr;
    emit_copy(b_, pointer(s.to, s.at), pointer(s.from, s.source), bytes, wanted);
}

void Emitter::multiply(const loop::MatrixStmt& s) {
    std::array<Value*, 4> totals{}, a{};
    std::array<Value*, 2> words{};
    std::ranges::transform(s.totals, totals.begin(), [&](loop::LocalId id) {
        llvm::Type* const type = of_bytes(s.products) ? b_.getInt32Ty() : b_.getFloatTy();
        return b_.CreateLoad(type, locals_[id.value]);
    });
    std::ranges::transform(s.a, a.begin(), [&](ExprId id) { return value(id); });
    std::ranges::transform(s.b, words.begin(), [&](ExprId id) { return value(id); });
    totals = emit_matrix(b_, s.products, totals, a, words);
    for (size_t i = 0; i < totals.size(); ++i) {
        b_.CreateStore(totals[i], locals_[s.totals[i].value]);
    }
}

void Emitter::emit_tile(const loop::TileStmt& s) {
    const bool memory = s.action == loop::TileAction::Load || s.action == loop::TileAction::Store;
    if (!memory) return codegen::emit_tile(b_, s, nullptr, 0);
    const int64_t size = tensor::dtype_size(f_.buffers[s.buffer.value].dtype);
    codegen::emit_tile(b_, s, pointer(s.buffer, s.address), s.stride * size);
}

void Emitter::emit_for(const loop::For& s) {
    Value* begin = value(s.begin);
    Value* end = value(s.end);
    // The step behind the last one must fit, too.
    const bool small = ranges_ && ranges_->of(s.begin).fits_32_bits() &&
                       ranges_->of(s.end).high <= INT32_MAX - s.step &&
                       ranges_->of(s.end).fits_32_bits();
    if (small) {
        begin = narrowed(b_, begin);
        end = narrowed(b_, end);
    }
    auto* const body = llvm::BasicBlock::Create(context_, "for", inner_);
    auto* const exit = llvm::BasicBlock::Create(context_, "done", inner_);
    const auto* const first = llvm::dyn_cast<llvm::ConstantInt>(begin);
    const auto* const last = llvm::dyn_cast<llvm::ConstantInt>(end);
    if (first && last && first->getSExtValue() < last->getSExtValue()) {
        b_.CreateBr(body);
    } else {
        b_.CreateCondBr(b_.CreateICmpSLT(begin, end), body, exit);
    }
    auto* const before = b_.GetInsertBlock();
    b_.SetInsertPoint(body);
    auto* const var = b_.CreatePHI(begin->getType(), 2);
    var->addIncoming(begin, before);
    bind(s.var, small ? widened(b_, var, ranges_->of(s.begin)) : var);
    if (first) divisors_[s.var.value] = std::gcd(first->getSExtValue(), s.step);
    scope([&] { block(s.body); });
    Value* const by = llvm::ConstantInt::get(begin->getType(), static_cast<uint64_t>(s.step));
    Value* const next = b_.CreateAdd(var, by, "", !small, true);
    var->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(next, end), body, exit);
    b_.SetInsertPoint(exit);
}

void Emitter::emit_if(const loop::If& s) {
    Value* const condition = value(s.condition);
    auto* const then = llvm::BasicBlock::Create(context_, "then", inner_);
    auto* const exit = llvm::BasicBlock::Create(context_, "fi", inner_);
    b_.CreateCondBr(condition, then, exit);
    b_.SetInsertPoint(then);
    scope([&] { block(s.body); });
    b_.CreateBr(exit);
    b_.SetInsertPoint(exit);
}

void Emitter::emit_store(const loop::StoreStmt& s) {
    const loop::Buffer& buffer = f_.buffers[s.buffer.value];
    const unsigned lanes = f_[s.value].type.lanes;
    const bool exact = f_[s.value].op == Op::FirstTerm && buffer.dtype == DType::BF16;
    Value* const stored =
        exact ? emit_upper_bits(b_, value(s.value)) : to_memory(b_, value(s.value), buffer.dtype);
    const llvm::Align align = alignment(s.buffer, s.address, lanes);
    Value* const mask = s.mask.valid() ? value(s.mask) : nullptr;
    if (lanes > 1 && scattered(s.address)) {
        Value* const at = pointers(s.buffer, s.address, lanes);
        b_.CreateMaskedScatter(stored, at, align, mask ? mask : all_true(lanes));
        return;
    }
    Value* const at = pointer(s.buffer, s.address);
    if (mask) {
        b_.CreateMaskedStore(stored, at, align, mask);
    } else if (in_words(stored->getType(), align)) {
        store_words(b_, stored, at, align);
    } else {
        b_.CreateAlignedStore(stored, at, align);
    }
}

// ---- Memory -------------------------------------------------------------------------------------

// Memory of a group: neighbouring loads become one.
llvm::Align Emitter::shared_alignment(const loop::Address& at, int64_t size) const {
    int64_t common = std::gcd(kDeviceVector / size, at.offset);
    for (const loop::AddressTerm& term : at.terms) {
        common = std::gcd(common, term.factor * divisors_[term.var.value]);
    }
    return llvm::Align(static_cast<uint64_t>(common * size));
}

// Of an access to so many elements. Devices load and store whole vectors where they are aligned.
llvm::Align Emitter::alignment(loop::BufferId buffer, const loop::Address& at, unsigned lanes) {
    const auto size = tensor::dtype_size(f_.buffers[buffer.value].dtype);
    const llvm::Align one(static_cast<uint64_t>(size));
    if (lanes == 1 && f_.buffers[buffer.value].shared && !at.dynamic.valid()) {
        return shared_alignment(at, size);
    }
    if (!ranges_ || lanes == 1 || at.lane_stride != 1) return one;
    int64_t elements = std::gcd(at.offset, kDeviceVector);
    for (const loop::AddressTerm& term : at.terms) elements = std::gcd(elements, term.factor);
    if (at.dynamic.valid()) {
        if (f_[at.dynamic].type.lanes > 1) return one;
        elements = std::gcd(elements, ranges_->divisor_of(at.dynamic));
    }
    const int64_t bytes = std::min(elements * size, kDeviceVector);
    const bool argument = buffer.value < vectors_.size();
    if (bytes <= size || (argument && !aligned_)) return one;
    if (argument) vectors_[buffer.value] = true;
    return llvm::Align(static_cast<uint64_t>(bytes));
}

// One step for each loop variable, outermost first, so that LLVM hoists the invariant part out of
// inner loops.
Value* Emitter::pointer(loop::BufferId buffer, const loop::Address& address) {
    llvm::Type* const element = memory_type(f_.buffers[buffer.value].dtype);
    Value* at = buffers_[buffer.value];
    const bool gathers = address.dynamic.valid() && f_[address.dynamic].type.lanes > 1;
    if (ranges_ && !gathers && ranges_->of(address).fits_32_bits()) {
        Value* const dynamic = address.dynamic.valid() ? value(address.dynamic) : nullptr;
        at = b_.CreateGEP(element, at, emit_small_sum(b_, *ranges_, address, vars_, dynamic));
        return address.offset ? step(element, at, nullptr, address.offset) : at;
    }
    llvm::SmallVector<loop::AddressTerm, 8> terms(address.terms.begin(), address.terms.end());
    llvm::stable_sort(terms, [this](const loop::AddressTerm& a, const loop::AddressTerm& b) {
        return bound_[a.var.value] < bound_[b.var.value];
    });
    for (const loop::AddressTerm& term : terms) {
        at = step(element, at, vars_[term.var.value], term.factor);
    }
    if (address.dynamic.valid() && f_[address.dynamic].type.lanes == 1) {
        at = step(element, at, value(address.dynamic), 1);
    }
    return address.offset ? step(element, at, nullptr, address.offset) : at;
}

Value* Emitter::step(llvm::Type* element, Value* at, Value* index, int64_t factor) {
    const Step key(element, at, index, factor);
    if (const auto found = steps_.find(key); found != steps_.end()) return found->second;
    Value* by = index ? index : number(factor);
    if (index && factor != 1) {
        // A guard may skip a step; its address may then be any number.
        constexpr int64_t kMostFactor = int64_t{1} << 31;
        const bool fits = factor >= -kMostFactor && factor <= kMostFactor;
        by = b_.CreateMul(index, number(factor), "", fits && factor > 0, fits);
    }
    Value* const result = b_.CreateGEP(element, at, by);
    steps_.emplace(key, result);
    step_log_.push_back(key);
    return result;
}

Value* Emitter::pointers(loop::BufferId buffer, const loop::Address& address, unsigned lanes) {
    llvm::Type* const element = memory_type(f_.buffers[buffer.value].dtype);
    Value* const at = pointer(buffer, address);
    if (address.dynamic.valid() && f_[address.dynamic].type.lanes > 1) {
        return b_.CreateGEP(element, at, value(address.dynamic));
    }
    std::vector<llvm::Constant*> steps;
    for (unsigned i = 0; i < lanes; ++i) {
        steps.push_back(llvm::ConstantInt::getSigned(i64_, int64_t{i} * address.lane_stride));
    }
    return b_.CreateGEP(element, at, llvm::ConstantVector::get(steps));
}

// Loads whole vectors from the first to the last wanted element, none after it, and picks the
// lanes.
Value* Emitter::load_strided(llvm::Type* stored,
                             const loop::Expr& e,
                             llvm::Align align,
                             Value* mask) {
    const int lanes = e.type.lanes;
    const int stride = static_cast<int>(e.address.lane_stride);
    const int last = (lanes - 1) * stride;
    Value* result = nullptr;
    for (int part = 0; part < stride; ++part) {
        const int begin = std::min(part * lanes, last + 1 - lanes);
        std::vector<int> to(static_cast<size_t>(lanes), lanes);  // the lane of each element
        std::vector<int> from(static_cast<size_t>(lanes), llvm::PoisonMaskElem);
        for (int lane = 0; lane < lanes; ++lane) {
            const int element = lane * stride;
            if (element < part * lanes) {
                from[static_cast<size_t>(lane)] = lane;  // already in its lane
            } else if (element < begin + lanes) {
                from[static_cast<size_t>(lane)] = (result ? lanes : 0) + element - begin;
                to[static_cast<size_t>(element - begin)] = lane;
            }
        }
        loop::Address address = e.address;
        address.offset += begin;
        Value* const at = pointer(e.buffer, address);
        Value* vector = nullptr;
        if (mask) {
            Value* const no = llvm::Constant::getNullValue(mask->getType());
            Value* const wanted = b_.CreateShuffleVector(mask, no, to);
            vector = b_.CreateMaskedLoad(
                stored, at, align, wanted, llvm::Constant::getNullValue(stored));
        } else {
            vector = b_.CreateAlignedLoad(stored, at, align);
        }
        result = result ? b_.CreateShuffleVector(result, vector, from)
                        : b_.CreateShuffleVector(vector, from);
    }
    return result;
}

Value* Emitter::load(const loop::Expr& e) {
    const loop::Buffer& buffer = f_.buffers[e.buffer.value];
    const unsigned lanes = e.type.lanes;
    llvm::Type* const stored = lanes_of(memory_type(buffer.dtype), lanes);
    const bool anywhere = f_.anywhere && !buffer.written;
    const llvm::Align align = anywhere ? llvm::Align(1) : alignment(e.buffer, e.address, lanes);
    if (e.type.kind == Kind::I32) {
        return b_.CreateAlignedLoad(type(e.type), pointer(e.buffer, e.address), align);
    }
    Value* const mask = e.mask.valid() ? value(e.mask) : nullptr;
    Value* const zero = llvm::Constant::getNullValue(stored);
    Value* loaded = nullptr;
    if (lanes > 1 && is_strided(e.address)) {
        loaded = load_strided(stored, e, align, mask);
    } else if (lanes > 1 && scattered(e.address)) {
        Value* const at = pointers(e.buffer, e.address, lanes);
        loaded = b_.CreateMaskedGather(stored, at, align, mask ? mask : all_true(lanes), zero);
    } else if (mask) {
        loaded = b_.CreateMaskedLoad(stored, pointer(e.buffer, e.address), align, mask, zero);
    } else if (in_words(stored, align)) {
        loaded = load_words(b_, stored, pointer(e.buffer, e.address), align);
    } else {
        loaded = b_.CreateAlignedLoad(stored, pointer(e.buffer, e.address), align);
    }
    return from_memory(b_, loaded, buffer.dtype);
}

// ---- Values -------------------------------------------------------------------------------------

Value* Emitter::value(ExprId id) {
    if (const auto found = values_.find(id); found != values_.end()) return found->second;
    Value* const result = compute(id);
    values_[id] = result;
    log_.push_back(id);
    return result;
}

Value* Emitter::constant(const loop::Expr& e) {
    if (e.type.real()) return llvm::ConstantFP::get(scalar_type(e.type.kind), e.real);
    return llvm::ConstantInt::get(scalar_type(e.type.kind), static_cast<uint64_t>(e.integer));
}

Value* Emitter::compute(ExprId id) {
    const loop::Expr& e = f_[id];
    switch (e.op) {
        case Op::Constant:
            return constant(e);
        case Op::Var:
            return vars_[static_cast<size_t>(e.integer)];
        case Op::Local:
            return b_.CreateLoad(type(e.type), locals_[static_cast<size_t>(e.integer)]);
        case Op::Load:
            return load(e);
        case Op::Ramp: {
            std::vector<llvm::Constant*> steps;
            for (unsigned i = 0; i < e.type.lanes; ++i) {
                steps.push_back(llvm::ConstantInt::get(i64_, i));
            }
            return llvm::ConstantVector::get(steps);
        }
        default:
            break;
    }
    std::vector<Value*> v;
    for (const ExprId arg : e.args) v.push_back(value(arg));
    if (ranges_) {
        const loop::IntRange range = e.type.kind == Kind::Int ? ranges_->of(id) : loop::IntRange();
        if (Value* const small = emit_small_int(b_, f_, *ranges_, e, range, v)) return small;
    }
    switch (e.op) {
        case Op::Cast:
            if (e.type.kind == Kind::Int && loop::fits_32_bits(f_, e.args[0])) {
                return convert_limited(e, v[0]);
            }
            return convert(v[0], f_[e.args[0]].type, e.type);
        case Op::Broadcast:
            return b_.CreateVectorSplat(e.type.lanes, v[0]);
        case Op::Select:
            return b_.CreateSelect(v[0], v[1], v[2]);
        case Op::Less:
        case Op::LessEqual:
        case Op::Equal:
        case Op::NotEqual:
            return emit_compare(b_, e.op, f_[e.args[0]].type, v);
        case Op::And:
            return b_.CreateAnd(v[0], v[1]);
        case Op::Or:
            return b_.CreateOr(v[0], v[1]);
        case Op::Xor:
            return b_.CreateXor(v[0], v[1]);
        case Op::Not:
            return emit_not(b_, v[0]);
        case Op::Library:
            return emit_library(b_, e, v, module_);
        case Op::FirstHalves:
        case Op::SecondHalves:
            return emit_halves(b_, e, v);
        case Op::DotBytes:
            return emit_dot_bytes(b_, v, e.integer, options_);
        case Op::DotBf16:
            return emit_dot_bf16(b_, v, options_);
        default:
            if (e.op >= Op::SumLanes) return over_lanes(e, v[0]);
            return arithmetic(e, v);
    }
}

Value* Emitter::arithmetic(const loop::Expr& e, const std::vector<Value*>& v) {
    const bool real = e.type.real();
    llvm::Type* const t = type(e.type);
    using llvm::Intrinsic::ID;
    namespace intrinsic = llvm::Intrinsic;
    switch (e.op) {
        case Op::Add:
            return real ? b_.CreateFAdd(v[0], v[1]) : b_.CreateAdd(v[0], v[1]);
        case Op::Sub:
            return real ? b_.CreateFSub(v[0], v[1]) : b_.CreateSub(v[0], v[1]);
        case Op::Mul:
            return real ? b_.CreateFMul(v[0], v[1]) : b_.CreateMul(v[0], v[1]);
        case Op::Div:
        case Op::Mod:
            return real ? b_.CreateFDiv(v[0], v[1]) : divide(e, v);
        case Op::Min:
            if (real) return emit_extreme(b_, v[0], v[1], true);
            return b_.CreateSelect(b_.CreateICmpSLT(v[1], v[0]), v[1], v[0]);
        case Op::Max:
            if (real) return emit_extreme(b_, v[0], v[1], false);
            return b_.CreateSelect(b_.CreateICmpSLT(v[0], v[1]), v[1], v[0]);
        case Op::Neg:
            return real ? b_.CreateFNeg(v[0]) : b_.CreateNeg(v[0]);
        case Op::Abs:
            if (real) return call(intrinsic::fabs, t, {v[0]});
            return b_.CreateSelect(
                b_.CreateICmpSLT(v[0], llvm::Constant::getNullValue(t)), b_.CreateNeg(v[0]), v[0]);
        case Op::Fma: {
            if (!real) return b_.CreateAdd(b_.CreateMul(v[0], v[1]), v[2]);
            const ID id = options_.has_fma ? ID(intrinsic::fma) : ID(intrinsic::fmuladd);
            return call(id, t, v);
        }
        case Op::Sqrt:
            return call(intrinsic::sqrt, t, v);
        case Op::Floor:
            return call(intrinsic::floor, t, v);
        case Op::Ceil:
            return call(intrinsic::ceil, t, v);
        case Op::Trunc:
            return call(intrinsic::trunc, t, v);
        case Op::Rint:
            return call(intrinsic::roundeven, t, v);
        case Op::Round:
            return call(intrinsic::round, t, v);
        case Op::CopySign:
            return call(intrinsic::copysign, t, v);
        case Op::Scale:
            return emit_scale(b_, v[0], v[1], options_);
        case Op::FirstTerm:
            return emit_first_term(b_, v[0]);
        case Op::Exponent:
        case Op::Mantissa: {
            llvm::Type* const i32 = lanes_of(b_.getInt32Ty(), e.type.lanes);
            Value* const bits = b_.CreateBitCast(v[0], i32);
            Value* const root = llvm::ConstantInt::get(i32, 0x3F3504F3);  // sqrt(1/2)
            Value* const exponent = b_.CreateAShr(b_.CreateSub(bits, root), 23);
            if (e.op == Op::Exponent) return b_.CreateSIToFP(exponent, t);
            return b_.CreateBitCast(b_.CreateSub(bits, b_.CreateShl(exponent, 23)), t);
        }
        default:
            return llvm::PoisonValue::get(t);
    }
}

Value* Emitter::divide(const loop::Expr& e, const std::vector<Value*>& v) {
    const bool division = e.op == Op::Div;
    const loop::Expr* by = &f_[e.args[1]];
    if (by->op == Op::Broadcast) by = &f_[by->args[0]];
    const bool positive = by->op == Op::Constant && by->integer > 0;
    if (positive && ranges_ && ranges_->of(e.args[0]).is_positive()) {
        return division ? b_.CreateUDiv(v[0], v[1]) : b_.CreateURem(v[0], v[1]);
    }
    return emit_division(b_, {division, positive}, v[0], v[1]);
}

Value* Emitter::convert(Value* v, loop::Type from, loop::Type to) {
    llvm::Type* const t = type(to);
    if (to.kind == Kind::Bool) {
        Value* const zero = llvm::Constant::getNullValue(v->getType());
        return from.real() ? b_.CreateFCmpUNE(v, zero) : b_.CreateICmpNE(v, zero);
    }
    if (to.kind == Kind::I32) {
        if (from.kind == Kind::Bool) return b_.CreateZExt(v, t);
        if (from.kind == Kind::Int) return b_.CreateTrunc(v, t);
        return b_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {t, v->getType()}, {v});
    }
    if (to.kind == Kind::Int) {
        if (from.kind == Kind::Bool) return b_.CreateZExt(v, t);
        if (from.kind == Kind::I32) return b_.CreateSExt(v, t);
        llvm::Type* const f64 = type({Kind::F64, from.lanes});
        if (from.kind == Kind::F32) v = b_.CreateFPExt(v, f64);
        return b_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {t, f64}, {v});  // NaN gives 0
    }
    if (from.kind == Kind::Bool) return b_.CreateUIToFP(v, t);
    if (from.kind == Kind::Int || from.kind == Kind::I32) {
        // From the type in memory: vectors convert 32 bits with one instruction.
        auto* const wide = llvm::dyn_cast<llvm::CastInst>(v);
        const bool narrow = wide && wide->getSrcTy()->getScalarSizeInBits() <= 32;
        if (narrow && llvm::isa<llvm::SExtInst>(wide)) v = wide->getOperand(0);
        if (narrow && llvm::isa<llvm::ZExtInst>(wide))
            return b_.CreateUIToFP(wide->getOperand(0), t);
        return b_.CreateSIToFP(v, t);
    }
    return to.kind == Kind::F64 ? b_.CreateFPExt(v, t) : b_.CreateFPTrunc(v, t);
}

// By way of 32 bits, which vectors convert with one instruction. NaN gives 0.
Value* Emitter::convert_limited(const loop::Expr& e, Value* v) {
    Value* const zero = llvm::Constant::getNullValue(v->getType());
    Value* const some = b_.CreateSelect(b_.CreateFCmpUNO(v, v), zero, v);
    Value* const narrow = b_.CreateFPToSI(some, lanes_of(b_.getInt32Ty(), e.type.lanes));
    return b_.CreateSExt(narrow, type(e.type));
}

// Reduces neighbours first, then neighbouring pairs, and so on. The sum of a row that fits a vector
// is then the same for every vector width.
template <class Combine>
Value* Emitter::by_pairs(Value* v, const Combine& combine) {
    const int lanes =
        static_cast<int>(llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements());
    for (int step = 1; step < lanes; step *= 2) {
        std::vector<int> from;
        for (int i = 0; i < lanes; ++i) {
            const bool used = i % (2 * step) == 0 && i + step < lanes;
            from.push_back(used ? i + step : llvm::PoisonMaskElem);
        }
        v = combine(v, b_.CreateShuffleVector(v, from));
    }
    return b_.CreateExtractElement(v, uint64_t{0});
}

// NaN if one lane is NaN, which one test finds.
Value* Emitter::extreme_lane(Value* v, bool least) {
    Value* const any = b_.CreateOrReduce(b_.CreateFCmpUNO(v, v));
    Value* const found = by_pairs(v, [&](Value* a, Value* b) {
        return b_.CreateSelect(least ? b_.CreateFCmpOLT(a, b) : b_.CreateFCmpOLT(b, a), a, b);
    });
    return b_.CreateSelect(any, llvm::ConstantFP::getNaN(found->getType()), found);
}

Value* Emitter::over_lanes(const loop::Expr& e, Value* v) {
    const bool real = e.type.real();
    switch (e.op) {
        case Op::SumLanes:
            if (!real) return b_.CreateAddReduce(v);
            return by_pairs(v, [&](Value* a, Value* b) { return b_.CreateFAdd(a, b); });
        case Op::ProductLanes:
            if (!real) return b_.CreateMulReduce(v);
            return by_pairs(v, [&](Value* a, Value* b) { return b_.CreateFMul(a, b); });
        case Op::MinLanes:
        case Op::MaxLanes: {
            const bool least = e.op == Op::MinLanes;
            if (real) return extreme_lane(v, least);
            return least ? b_.CreateIntMinReduce(v, true) : b_.CreateIntMaxReduce(v, true);
        }
        case Op::AllLanes:
            return b_.CreateAndReduce(v);
        default:
            return b_.CreateOrReduce(v);
    }
}

}  // namespace

void emit(const loop::Function& function,
          const std::string& name,
          const EmitOptions& options,
          llvm::Module& module) {
    Emitter(function, options, module).emit(name);
}

}  // namespace lemma::codegen
