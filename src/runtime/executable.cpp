// SPDX-License-Identifier: Apache-2.0
#include "runtime/executable.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/match.h"
#include "runtime/device_segment.h"

namespace lemma::runtime {

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
    const bool backwards = walks_backwards(items);
    if (pool_.threads() == 1) {
        alone_.prepare(kernel, pieces_, scratch_, begin, backwards);
        alone_.run(0, items);
        return alone_.outcome();
    }
    series_.add(kernel, begin, end, backwards);
    return series_.run();
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

bool Executable::walks_backwards(int64_t items) const {
    constexpr int64_t kMost = 256;  // above this number, items are short and read little
    return backwards_ && items <= kMost;
}

// From time to time the calls of a wave run one after the other, which measures them.
bool Executable::runs_apart(const KernelWave& wave) const {
    constexpr uint32_t kFirst = 4, kEvery = 64;
    const uint32_t run = wave.runs++;
    return backwards_ || run < kFirst || run % kEvery == 0 || pool_.available() == 1;
}

// Kernels that follow each other, from this step on, which threads run without a word from here.
// Returns the number of steps; 0: the step is none.
Result<size_t> Executable::run_series(const Steps& steps, size_t first) {
    size_t next = first;
    for (; next < steps.size(); ++next) {
        if (const auto* call = std::get_if<KernelCall>(&steps[next].kind)) {
            if (!series_.has_room(1)) break;
            series_.add(*call, 0, call->items, walks_backwards(call->items));
            continue;
        }
        const auto* wave = std::get_if<KernelWave>(&steps[next].kind);
        if (!wave || !series_.has_room(wave->calls.size())) break;
        if (!runs_apart(*wave)) {
            series_.add(*wave);
            continue;
        }
        for (const KernelCall& call : wave->calls) {
            series_.add(call, 0, call.items, walks_backwards(call.items));
        }
    }
    if (next > first) LEMMA_TRY(series_.run());
    return next - first;
}

Result<void> Executable::run_step(const Step& step) {
    return match(
        step.kind,
        [&](const KernelCall& call) { return run_call(call, 0, call.items); },
        [&](const KernelWave& wave) { return run_apart(wave); },
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
        if (!seconds_ && !device_ && pool_.threads() > 1) {
            LEMMA_TRY(const size_t count, run_series(steps, i));
            if (count > 0) {
                i += count - 1;
                continue;
            }
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
