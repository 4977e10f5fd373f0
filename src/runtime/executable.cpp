// SPDX-License-Identifier: Apache-2.0
#include "runtime/executable.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/match.h"
#include "runtime/device_segment.h"

namespace lemma::runtime {

namespace {

constexpr size_t kMostBuffers = 64;  // without memory from the heap

// A call with the addresses of its buffers. All threads read it when they start, so it is in as few
// cache lines as possible.
class alignas(64) Call {
public:
    Call(const KernelCall& kernel,
         const std::vector<void*>& pieces,
         ScratchMemory& scratch,
         int64_t first,
         bool backwards)
        : kernel_(kernel.kernel), first_(first), backwards_(backwards) {
        void** to = few_;
        if (kernel.buffers.size() > kMostBuffers) {
            many_.resize(kernel.buffers.size());
            to = many_.data();
        }
        buffers_ = to;
        count_ = kernel.buffers.size();
        for (size_t i = 0; i < count_; ++i) {
            const size_t piece = kernel.buffers[i];
            if (piece == kScratch) {
                scratch_ = &scratch;
                scratch_at_ = i;
                continue;
            }
            to[i] = piece == kFlag ? &failed_ : pieces[piece];
        }
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    bool backwards() const { return backwards_; }
    void run(int64_t begin, int64_t end) const {
        if (!scratch_) return run_with(buffers_, begin + first_, end + first_);
        // The buffers of this thread have scratch memory of their own.
        void* few[kMostBuffers];
        std::vector<void*> many;
        void** own = few;
        if (count_ > kMostBuffers) {
            many.resize(count_);
            own = many.data();
        }
        std::copy_n(buffers_, count_, own);
        const ScratchMemory::Slot slot(*scratch_);
        own[scratch_at_] = slot.data();
        run_with(own, begin + first_, end + first_);
    }
    Result<void> outcome() const {
        if (failed_ != 0) return std::unexpected(Error{"an index is outside of its tensor"});
        return {};
    }

private:
    void run_with(void* const* buffers, int64_t begin, int64_t end) const {
        if (!backwards_) return kernel_(buffers, begin, end);
        for (int64_t item = end; item-- > begin;) kernel_(buffers, item, item + 1);
    }

    KernelFunction kernel_;
    void* const* buffers_;
    int64_t first_;
    bool backwards_;
    ScratchMemory* scratch_ = nullptr;   // missing if the kernel has none
    size_t count_ = 0, scratch_at_ = 0;  // all buffers, and the place of the scratch memory
    void* few_[kMostBuffers];
    int64_t failed_ = 0;
    std::vector<void*> many_;
};

// Above this number, items are short and read little.
constexpr int64_t kMostBackwards = 256;
constexpr double kLeastShare = 2e-6;  // seconds of work for which a thread is asked
constexpr double kLeastPiece = 1e-6;  // of work that a thread takes at a time
constexpr double kWavePieces = 8;     // pieces of a wave for each thread
constexpr uint32_t kMeasured = 8;     // one of so many short calls is measured

void run_range(void* context, int64_t begin, int64_t end) {
    static_cast<const Call*>(context)->run(begin, end);
}

// The calls of a wave in a row, cut into pieces of about the same work.
struct Part {
    const Call* call;
    int64_t items, piece;
    int64_t first;  // piece, among those of all calls

    int64_t pieces() const { return (items - 1) / piece + 1; }
};

void run_parts(void* context, int64_t begin, int64_t end) {
    for (const Part& part : *static_cast<const std::vector<Part>*>(context)) {
        const int64_t from = std::max(begin - part.first, int64_t{0});
        const int64_t to = std::min(end - part.first, part.pieces());
        if (from >= to) continue;
        part.call->run(from * part.piece, std::min(to * part.piece, part.items));
    }
}

}  // namespace

// ---- Memory -------------------------------------------------------------------------------------

Result<size_t> Executable::add_memory(int64_t bytes) {
    LEMMA_TRY(Memory memory, zeros(bytes));
    bytes_ += bytes;
    show_device(memory.data(), bytes);
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
    show_device(owned_[moving].data(), bytes);
    move(moving, owned_[moving].data());
    return {};
}

void Executable::release(size_t memory) {
    bytes_ -= owned_[memory].bytes();
    if (device_) device_->remove(owned_[memory].data());
    owned_[memory] = Memory();
    move(memory, nullptr);
}

void Executable::move(size_t piece, void* to) {
    pieces_[piece] = to;
    for (const Follower& follower : followers_[piece]) {
        move(follower.piece, to ? static_cast<std::byte*>(to) + follower.offset : nullptr);
    }
}

void Executable::copy(void* to, const void* from, int64_t bytes) const {
    if (device_) return device_->copy(to, from, bytes);
    std::memmove(to, from, static_cast<size_t>(bytes));
}

Result<void> Executable::give(size_t to, const void* from, int64_t bytes) {
    if (device_) return device_->give(pieces_[to], from, bytes);
    if (bytes > 0) std::memmove(pieces_[to], from, static_cast<size_t>(bytes));
    return {};
}

Result<void> Executable::take(void* to, size_t from, int64_t bytes) const {
    if (device_) return device_->take(to, pieces_[from], bytes);
    if (bytes > 0) std::memmove(to, pieces_[from], static_cast<size_t>(bytes));
    return {};
}

// ---- Steps --------------------------------------------------------------------------------------

Result<void> Executable::run_items(const KernelCall& kernel, int64_t begin, int64_t end) {
    if (device_) LEMMA_TRY(device_->begin());
    return run_call(kernel, begin, end);
}

Result<void> Executable::run_call(const KernelCall& kernel, int64_t begin, int64_t end) {
    const int64_t items = end - begin;
    if (device_ && kernel.device) {
        return items > 0 ? device_->launch(kernel, pieces_, begin, end) : Result<void>();
    }
    if (device_) device_->prepare_host(kernel, pieces_);
    Call call(kernel, pieces_, scratch_, begin, backwards_ && items <= kMostBackwards);
    share(kernel, {run_range, &call, items, 1, 1, call.backwards()});
    return call.outcome();
}

// Gives the job as many threads as its work needs, by the time of earlier calls.
void Executable::share(const KernelCall& kernel, ThreadPool::Job job) {
    if (pool_.threads() == 1) return job.function(job.context, 0, job.items);
    const double work = kernel.seconds * static_cast<double>(job.items);
    job.threads = static_cast<int>(std::clamp(work / kLeastShare, 1.0, 1e6));
    job.grain = static_cast<int64_t>(std::clamp(kLeastPiece / kernel.seconds, 1.0, 1e15));
    const bool alone = job.threads == 1;
    if (alone && kernel.calls++ % kMeasured != 0) {
        return job.function(job.context, 0, job.items);
    }
    const auto begin = std::chrono::steady_clock::now();
    double seconds = pool_.run(job);
    if (alone) {
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        seconds = spent.count() / static_cast<double>(job.items);
    }
    // Single measurements may be far off.
    if (seconds <= 0) return;
    seconds = std::clamp(seconds, kernel.seconds / 4, kernel.seconds * 4);
    kernel.seconds = std::max(kernel.seconds + 0.3 * (seconds - kernel.seconds), 1e-12);
}

Result<void> Executable::run_apart(const KernelWave& wave) {
    for (size_t i = 0; i < wave.calls.size(); ++i) {
        const auto begin = std::chrono::steady_clock::now();
        LEMMA_TRY(run_call(wave.calls[i], 0, wave.calls[i].items));
        if (!seconds_) continue;
        if (device_) LEMMA_TRY(device_->wait());
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        (*seconds_)[wave.numbers[i]] += spent.count();
        inner_ += spent.count();
    }
    return {};
}

// From time to time the calls run one after the other, which measures them.
Result<void> Executable::run_wave(const KernelWave& wave) {
    constexpr uint32_t kFirst = 4, kEvery = 64;
    const uint32_t run = wave.runs++;
    const int threads = pool_.available();
    if (device_ || threads == 1 || seconds_ || backwards_ || run < kFirst || run % kEvery == 0) {
        return run_apart(wave);
    }
    double work = 0;
    for (const KernelCall& call : wave.calls) {
        work += call.seconds * static_cast<double>(call.items);
    }
    const double piece = std::max(work / (kWavePieces * threads), kLeastPiece);
    std::vector<std::unique_ptr<Call>> calls;
    std::vector<Part> parts;
    int64_t pieces = 0;
    for (const KernelCall& call : wave.calls) {
        calls.push_back(std::make_unique<Call>(call, pieces_, scratch_, 0, false));
        const double items = std::clamp(piece / call.seconds, 1.0, static_cast<double>(call.items));
        parts.push_back({calls.back().get(), call.items, static_cast<int64_t>(items), pieces});
        pieces += parts.back().pieces();
    }
    const auto asked = static_cast<int>(std::clamp(work / kLeastShare, 1.0, 1e6));
    pool_.run({run_parts, &parts, pieces, 1, asked});
    for (const auto& call : calls) {
        LEMMA_TRY(call->outcome());
    }
    return {};
}

Result<void> Executable::run_step(const Step& step) {
    return match(
        step.kind,
        [&](const KernelCall& call) { return run_call(call, 0, call.items); },
        [&](const KernelWave& wave) { return run_wave(wave); },
        [](const HostCall& call) { return call(); },
        [&](const std::unique_ptr<Loop>& loop) { return run_loop(*loop); },
        [&](const std::unique_ptr<Branch>& branch) { return run_branch(*branch); });
}

Result<void> Executable::run_steps(const Steps& steps) {
    using Clock = std::chrono::steady_clock;
    for (size_t i = 0; i < steps.size(); ++i) {
        const Step& step = steps[i];
        LEMMA_TRY(go_on(control_));
        const bool there = device_ && is_on_device(step);
        if (there && !seconds_) {
            LEMMA_TRY(const size_t count, run_segment(steps, i));
            i += count - 1;
            continue;
        }
        if (there && device_->can_mark()) {
            LEMMA_TRY(run_marked(step));
            continue;
        }
        if (!seconds_) {
            LEMMA_TRY(run_step(step));
            continue;
        }
        const double before = inner_;
        inner_ = 0;
        if (device_) LEMMA_TRY(device_->wait());
        const auto begin = Clock::now();
        LEMMA_TRY(run_step(step));
        if (device_) LEMMA_TRY(device_->wait());
        const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
        (*seconds_)[step.number] += spent - inner_;
        inner_ = before + spent;
    }
    return {};
}

Result<void> Executable::start(const Steps& steps, std::vector<double>* seconds) {
    const ThreadPool::Run scope(pool_);
    if (device_) LEMMA_TRY(device_->begin());
    seconds_ = seconds;
    inner_ = 0;
    marked_.clear();
    auto done = run_steps(steps);
    if (done && !marked_.empty()) done = collect_marks();
    seconds_ = nullptr;
    return done;
}

Result<void> Executable::run(const Steps& steps, std::vector<double>* seconds, double* on_device) {
    const bool timed = on_device && device_ && device_->can_mark();
    if (timed) {
        LEMMA_TRY(device_->begin());
        LEMMA_TRY(device_->mark(kFirstMark));
    }
    auto done = start(steps, seconds);
    if (timed && done) done = device_->mark(kLastMark);
    auto ended = finish_device();
    if (!done || !ended) return done ? ended : done;
    if (timed) {
        LEMMA_TRY(*on_device, device_->seconds(kFirstMark, kLastMark));
    }
    return {};
}

}  // namespace lemma::runtime
