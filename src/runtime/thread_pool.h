// SPDX-License-Identifier: Apache-2.0
// runtime/thread_pool.h — threads that share the items of one kernel after another. They spin for a
// moment and then sleep, so that waiting does not slow a busy machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace lemma::runtime {

class ThreadPool {
public:
    // `threads` in total, including the caller's.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return threads_; }

    using Function = void (*)(void* context, int64_t begin, int64_t end);
    // Calls the function for all items, in contiguous pieces, from several threads. Each thread
    // owns a range. A thread that is done takes pieces from the ends of other ranges (work
    // stealing), so nobody waits for a thread that the system has suspended. `backwards`: each
    // range is walked from its last piece on.
    void run(int64_t items, bool backwards, Function function, void* context);

private:
    // The remaining pieces of a thread's range, packed into one number: the round, the first and
    // the last remaining piece.
    struct alignas(64) Range {
        std::atomic<uint64_t> left{0};
    };
    struct Job {
        Function function = nullptr;
        void* context = nullptr;
        int64_t items = 0, pieces = 0;
        bool backwards = false;
    };

    void work(int part);
    void wait_for_start(uint32_t seen);
    bool take(int part, bool own, int64_t& piece);
    void do_pieces(int part);

    int threads_;
    std::vector<std::thread> workers_;
    std::unique_ptr<Range[]> ranges_;
    Job job_;  // the job of this round; unchanged until all pieces are done
    alignas(64) std::atomic<uint32_t> round_{0};
    alignas(64) std::atomic<uint32_t> pending_{0};  // unfinished pieces
    std::atomic<bool> stop_{false};
};

}  // namespace lemma::runtime
