// runtime/thread_pool.h — a few threads that share the items of one kernel after another. They
// spin for a moment and sleep then, so that a busy machine is not made slower by waiting.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace lemma::runtime {

class ThreadPool {
public:
    // `threads` in all, the caller's among them.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return threads_; }
    // Calls function(context, part, parts) once for each part, one of them in this thread.
    void run(void (*function)(void*, int, int), void* context);

private:
    void work(int part);
    void wait_for_start(uint32_t seen);

    int threads_;
    std::vector<std::thread> workers_;
    alignas(64) std::atomic<uint32_t> round_{0};
    alignas(64) std::atomic<uint32_t> pending_{0};
    void (*function_)(void*, int, int) = nullptr;
    void* context_ = nullptr;
    std::atomic<bool> stop_{false};
};

}  // namespace lemma::runtime
