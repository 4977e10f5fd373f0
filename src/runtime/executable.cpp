// SPDX-License-Identifier: Apache-2.0
#include "runtime/executable.h"

#include <algorithm>
#include <chrono>

#include "base/match.h"

namespace lemma::runtime {

namespace {

struct Call {
    KernelFunction kernel;
    void* const* buffers;
    int64_t first;
    bool backwards;
    ScratchMemory* scratch;    // missing if the kernel has none
    size_t count, scratch_at;  // all buffers, and the place of the scratch memory among them
};

// Above this number, items are short and read little.
constexpr int64_t kMostBackwards = 256;
constexpr double kLeastShare = 2e-6;  // seconds of work for which a thread is asked
constexpr double kLeastPiece = 1e-6;  // of work that a thread takes at a time
constexpr double kWavePieces = 8;     // pieces of a wave for each thread
constexpr uint32_t kMeasured = 8;     // one of so many short calls is measured

constexpr size_t kMostBuffers = 64;

void run_range(void* context, int64_t begin, int64_t end);

// The buffers of this thread have scratch memory of their own.
void run_with_scratch(Call call, int64_t begin, int64_t end) {
    void* few[kMostBuffers];
    std::vector<void*> many;
    void** own = few;
    if (call.count > kMostBuffers) {
        many.resize(call.count);
        own = many.data();
    }
    std::copy_n(call.buffers, call.count, own);
    const ScratchMemory::Slot slot(*call.scratch);
    own[call.scratch_at] = slot.data();
    call.buffers = own;
    call.scratch = nullptr;
    run_range(&call, begin, end);
}

void run_range(void* context, int64_t begin, int64_t end) {
    const Call& call = *static_cast<const Call*>(context);
    if (call.scratch) return run_with_scratch(call, begin, end);
    begin += call.first;
    end += call.first;
    if (!call.backwards) return call.kernel(call.buffers, begin, end);
    for (int64_t item = end; item-- > begin;) call.kernel(call.buffers, item, item + 1);
}

}  // namespace

// ---- Memory -------------------------------------------------------------------------------------

Result<size_t> Executable::add_memory(int64_t bytes) {
    LEMMA_TRY(Memory memory, zeros(bytes));
    bytes_ += bytes;
    pieces_.push_back(memory.data());
    owned_.push_back(std::move(memory));
    followers_.emplace_back();
    return pieces_.size() - 1;
}

Result<void> Executable::set_scratch(int64_t bytes) {
    bytes_ -= scratch_.bytes();
    LEMMA_TRY(scratch_.allocate(pool_.threads(), bytes, guarded_));
    bytes_ += scratch_.bytes();
    return {};
}

size_t Executable::add_alias(size_t memory, int64_t offset_bytes) {
    void* const base = pieces_[memory];
    pieces_.push_back(base ? static_cast<std::byte*>(base) + offset_bytes : nullptr);
    owned_.emplace_back();
    followers_.emplace_back();
    followers_[memory].push_back({pieces_.size() - 1, offset_bytes});
    return pieces_.size() - 1;
}

size_t Executable::add_moving() {
    pieces_.push_back(nullptr);
    owned_.emplace_back();
    followers_.emplace_back();
    return pieces_.size() - 1;
}

Result<void> Executable::give_memory(size_t moving, int64_t bytes) {
    LEMMA_TRY(owned_[moving], zeros(bytes));
    bytes_ += bytes;
    move(moving, owned_[moving].data());
    return {};
}

void Executable::release(size_t memory) {
    bytes_ -= owned_[memory].bytes();
    owned_[memory] = Memory();
    move(memory, nullptr);
}

void Executable::move(size_t piece, void* to) {
    pieces_[piece] = to;
    for (const Follower& follower : followers_[piece]) {
        move(follower.piece, to ? static_cast<std::byte*>(to) + follower.offset : nullptr);
    }
}

// ---- Steps --------------------------------------------------------------------------------------

Result<void> Executable::run_items(const KernelCall& kernel, int64_t begin, int64_t end) {
    void* few[kMostBuffers];
    std::vector<void*> many;
    void** buffers = few;
    if (kernel.buffers.size() > kMostBuffers) {
        many.resize(kernel.buffers.size());
        buffers = many.data();
    }
    int64_t failed = 0;
    const int64_t items = end - begin;
    Call call{kernel.kernel,
              buffers,
              begin,
              backwards_ && items <= kMostBackwards,
              nullptr,
              kernel.buffers.size(),
              0};
    for (size_t i = 0; i < kernel.buffers.size(); ++i) {
        if (kernel.buffers[i] == kScratch) {
            call.scratch = &scratch_;
            call.scratch_at = i;
            continue;
        }
        buffers[i] = kernel.buffers[i] == kFlag ? &failed : pieces_[kernel.buffers[i]];
    }
    pool_.run(items, call.backwards, run_range, &call);
    if (failed) return std::unexpected(Error{"an index is outside of its tensor"});
    return {};
}

Result<void> Executable::run_step(const Step& step) {
    return match(
        step.kind,
        [&](const KernelCall& call) { return run_items(call, 0, call.items); },
        [&](const KernelWave& wave) { return run_wave(wave); },
        [](const HostCall& call) { return call(); },
        [&](const std::unique_ptr<Loop>& loop) { return run_loop(*loop); },
        [&](const std::unique_ptr<Branch>& branch) { return run_branch(*branch); });
}

Result<void> Executable::run_steps(const Steps& steps) {
    using Clock = std::chrono::steady_clock;
    for (const Step& step : steps) {
        LEMMA_TRY(go_on(control_));
        if (!seconds_) {
            LEMMA_TRY(run_step(step));
            continue;
        }
        const double before = inner_;
        inner_ = 0;
        const auto begin = Clock::now();
        LEMMA_TRY(run_step(step));
        const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
        (*seconds_)[step.number] += spent - inner_;
        inner_ = before + spent;
    }
    return {};
}

Result<void> Executable::run(const Steps& steps, std::vector<double>* seconds) {
    const ThreadPool::Run scope(pool_);
    seconds_ = seconds;
    inner_ = 0;
    auto done = run_steps(steps);
    seconds_ = nullptr;
    return done;
}

}  // namespace lemma::runtime
