// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_pool.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lemma::runtime {

namespace {

constexpr int kSpins = 2000;        // about 100 µs
constexpr int64_t kPieces = 8;      // pieces of a range: enough to share the rest
constexpr uint64_t kMask = 0xFFFF;  // bits of a piece's number

void pause() {
#if defined(__x86_64__)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

uint64_t packed(uint64_t first, uint64_t behind) { return first << 16 | behind; }

}  // namespace

ThreadPool::ThreadPool(int threads)
    : threads_(threads), ranges_(std::make_unique<Range[]>(static_cast<size_t>(threads))) {
    for (int part = 1; part < threads; ++part) {
        workers_.emplace_back([this, part] { work(part); });
    }
}

ThreadPool::~ThreadPool() {
    stop_.store(true);
    round_.fetch_add(1);
    round_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::wait_for_start(uint32_t seen) {
    for (int spin = 0; spin < kSpins; ++spin) {
        if (round_.load(std::memory_order_acquire) != seen) return;
        pause();
    }
    round_.wait(seen, std::memory_order_acquire);
}

void ThreadPool::work(int part) {
    uint32_t seen = 0;
    for (;;) {
        wait_for_start(seen);
        // In this order: a thread must not miss the round that ends the pool.
        seen = round_.load(std::memory_order_acquire);
        if (stop_.load()) return;
        do_pieces(part);
    }
}

// The owner takes from the front, others from the back. A thread with a piece may read the job,
// which does not change before that piece is done.
bool ThreadPool::take(int part, bool own, int64_t& piece) {
    std::atomic<uint64_t>& left = ranges_[static_cast<size_t>(part)].left;
    uint64_t now = left.load(std::memory_order_acquire);
    for (;;) {
        const uint64_t first = now >> 16 & kMask;
        const uint64_t behind = now & kMask;
        if (first >= behind) return false;
        const uint64_t after = own ? packed(first + 1, behind) : packed(first, behind - 1);
        if (left.compare_exchange_weak(
                now, after, std::memory_order_acq_rel, std::memory_order_acquire)) {
            piece = static_cast<int64_t>(own ? first : behind - 1);
            return true;
        }
    }
}

void ThreadPool::do_pieces(int part) {
    for (int offset = 0; offset < threads_; ++offset) {
        const int from = (part + offset) % threads_;
        int64_t piece = 0;
        while (take(from, offset == 0, piece)) {
            const Job& job = job_;
            // The pieces of all ranges, one range after the other.
            const int64_t first = job.pieces * from / threads_;
            const int64_t behind = job.pieces * (from + 1) / threads_;
            const int64_t at = job.backwards ? behind - 1 - piece : first + piece;
            job.function(
                job.context, job.items * at / job.pieces, job.items * (at + 1) / job.pieces);
            if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
        }
    }
}

void ThreadPool::run(int64_t items, bool backwards, Function function, void* context) {
    if (items <= 0) return;
    const int64_t most = threads_ == 1 ? 1 : kPieces * threads_;
    const int64_t pieces = std::min<int64_t>(items, most);
    if (pieces == 1) return function(context, 0, items);
    job_ = {function, context, items, pieces, backwards};
    pending_.store(static_cast<uint32_t>(pieces), std::memory_order_relaxed);
    for (int part = 0; part < threads_; ++part) {
        const auto count =
            static_cast<uint64_t>(pieces * (part + 1) / threads_ - pieces * part / threads_);
        ranges_[static_cast<size_t>(part)].left.store(packed(0, count), std::memory_order_release);
    }
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    do_pieces(0);
    for (int spin = 0; spin < kSpins; ++spin) {
        if (pending_.load(std::memory_order_acquire) == 0) return;
        pause();
    }
    for (uint32_t left = pending_.load(); left != 0; left = pending_.load()) pending_.wait(left);
}

}  // namespace lemma::runtime
