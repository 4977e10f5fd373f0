#include "runtime/thread_pool.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lemma::runtime {

namespace {

constexpr int kSpins = 2000;  // about 100 µs

void pause() {
#if defined(__x86_64__)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads) : threads_(threads) {
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
    for (uint32_t round = 0;; ++round) {
        wait_for_start(round);
        if (stop_.load()) return;
        function_(context_, part, threads_);
        if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
    }
}

void ThreadPool::run(void (*function)(void*, int, int), void* context) {
    if (threads_ == 1) return function(context, 0, 1);
    function_ = function;
    context_ = context;
    pending_.store(static_cast<uint32_t>(threads_ - 1), std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    function(context, 0, threads_);
    for (int spin = 0; spin < kSpins; ++spin) {
        if (pending_.load(std::memory_order_acquire) == 0) return;
        pause();
    }
    for (uint32_t left = pending_.load(); left != 0; left = pending_.load()) pending_.wait(left);
}

}  // namespace lemma::runtime
