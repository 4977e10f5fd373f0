// SPDX-License-Identifier: Apache-2.0
// runtime/thread_pool.h — threads that share the items of one job after another. They spin for a
// moment, give way to other threads, and then sleep, so that waiting does not slow a busy machine.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/processors.h"

namespace lemma::runtime {

class ThreadPool {
public:
    using Function = void (*)(void* context, int64_t begin, int64_t end);
    struct Job {
        Function function = nullptr;
        void* context = nullptr;
        int64_t items = 0;
        int64_t grain = 1;        // items of one call, at least
        int threads = INT32_MAX;  // at most
        bool backwards = false;   // each thread walks its items from the last one on
    };
    // Seconds, summed over jobs and, except for `jobs`, over threads.
    struct Times {
        double jobs = 0;      // from the start of a job to its end
        double work = 0;      // threads inside of the function
        double waiting = 0;   // threads of a job that have not started, or look for items
        double tail = 0;      // threads of a job that wait for others to end
        double left_out = 0;  // threads that a job did not ask for
    };

    // `threads` in total, including the caller's. A job gets no more than there are processors.
    explicit ThreadPool(int threads, int processors = usable_processors());
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return threads_; }
    // The threads that a job may get now: other pools in a run get their share of the processors,
    // and a thread is left out after the system has suspended one.
    int available() const;

    // Pools in a run share the processors.
    class Run {
    public:
        explicit Run(ThreadPool& pool);
        ~Run();
        Run(const Run&) = delete;
        Run& operator=(const Run&) = delete;

    private:
        bool counts_;
    };

    // Calls the function for all items, in contiguous pieces, from several threads. Each thread
    // owns a range. A thread that is done takes pieces from the far ends of other ranges (work
    // stealing), so nobody waits for a thread that has not started.
    // Returns the caller's seconds per item, or 0 if it did none.
    double run(const Job& job);

    // Adds up times from now on, or ends it (null).
    void measure(Times* times) { times_ = times; }

private:
    using Clock = std::chrono::steady_clock;
    // What a thread has to itself.
    struct alignas(64) Worker {
        std::atomic<uint64_t> left{0};  // remaining units of its range: first << 32 | behind
        alignas(64) std::atomic<uint32_t> sleeping{0};
        // Of the present job; only while times are taken.
        Clock::time_point first, last;
        double work = 0;
    };
    struct Units {
        int64_t begin = 0, end = 0;
        int64_t count() const { return end - begin; }
    };
    struct Done {
        int64_t units = 0, calls = 0;
    };

    void work(int part);
    uint64_t wait_for_start(int part, uint64_t seen, Clock::time_point& worked);
    void wake(int part, int behind);
    bool take(int part, bool own, Units& units);
    Done do_units(int part);
    void call(int part, Units units);
    void wait_for_end(double piece);
    void learn_of_stall();
    void add_times(Clock::time_point begin, int asked);

    int threads_;
    int most_;  // threads of a job: not more than processors
    int processors_;
    std::vector<std::thread> workers_;
    std::unique_ptr<Worker[]> parts_;
    Job job_;           // of this round; unchanged until all units are done
    int64_t unit_ = 1;  // items
    Times* times_ = nullptr;
    // Threads are left out for a while after a stall.
    int limit_;
    Clock::time_point next_try_;
    std::chrono::milliseconds patience_{0};
    std::atomic<int64_t> grain_{1};                 // of this round, in units
    std::atomic<bool> backwards_{false};            // of this round
    alignas(64) std::atomic<uint64_t> round_{0};    // number << 16 | threads
    alignas(64) std::atomic<int64_t> pending_{0};   // unfinished units
    alignas(64) std::atomic<uint32_t> waiting_{0};  // the caller sleeps until nothing is pending
    std::atomic<bool> stop_{false};
};

}  // namespace lemma::runtime
