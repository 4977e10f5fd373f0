// runtime/thread_pool.h — a few threads that share the items of one kernel after another. They
// spin for a moment and sleep then, so that a busy machine is not made slower by waiting.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
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

    using Function = void (*)(void* context, int64_t begin, int64_t end);
    // Calls the function for all items, in pieces that lie side by side, from several threads. Each
    // thread has a range of its own; one that is done takes pieces from the ends of the others', so
    // that nobody waits for a thread that the system does not let run. Backwards: every range is
    // walked from its last piece on.
    void run(int64_t items, bool backwards, Function function, void* context);

private:
    // The pieces of a thread's range that nobody has taken yet, in one number: of which round, and
    // the first and the last that are left.
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
    Job job_;  // of this round; it stays until all pieces are done
    alignas(64) std::atomic<uint32_t> round_{0};
    alignas(64) std::atomic<uint32_t> pending_{0};  // pieces that are not done
    std::atomic<bool> stop_{false};
};

}  // namespace lemma::runtime
