// SPDX-License-Identifier: Apache-2.0
// runtime/thread_pool.h — threads that share the items of one job after another. They spin for a
// moment and then sleep, so that waiting does not slow a busy machine.
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
        int64_t grain = 1;        // items of one call, about
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
    int usable_threads() const { return most_; }  // not more than there are processors
    // The threads that a job may get now: other pools in a run get their share of the processors,
    // and so does whoever has suspended one of the threads.
    int available() const;

    // Pools in a run share the processors.
    class Run {
    public:
        explicit Run(const ThreadPool& pool);
        ~Run();
        Run(const Run&) = delete;
        Run& operator=(const Run&) = delete;

    private:
        bool counts_;
    };

    // Calls the function for all items, in contiguous pieces, from several threads. Each thread
    // owns a range. A thread that is done takes pieces from the far ends of other ranges (work
    // stealing), so nobody waits for a thread that has not started.
    // Returns the caller's seconds per item, or 0 if it did not share the job.
    double run(const Job& job);

    // Adds up times from now on, or ends it (null).
    void measure(Times* times) { times_ = times; }

private:
    using Clock = std::chrono::steady_clock;

    // A round is one job. Its items are in units, of which a thread takes at least 2^grain.
    struct Round {
        uint32_t number = 0;
        uint32_t units = 0;    // at most kMostUnits
        uint32_t threads = 0;  // at most kMostThreads
        uint32_t grain = 0;
        bool backwards = false;

        uint64_t packed() const;
        static Round unpacked(uint64_t bits);
        uint32_t begin_of(int part) const {
            return static_cast<uint32_t>(uint64_t{units} * static_cast<uint64_t>(part) / threads);
        }
    };
    struct Units {
        uint32_t begin = 0, end = 0;
    };
    // What a job needs to start, in one cache line. All but the round is for threads that have
    // taken units: it does not change before those are done.
    struct alignas(64) Start {
        std::atomic<uint64_t> round{0};
        Function function = nullptr;
        void* context = nullptr;
        int64_t items = 0, unit = 1;
        bool timed = false;
    };
    // What a thread has to itself, in cache lines by who writes and reads them.
    struct alignas(64) Worker {
        // The number of a round and the remaining units of this thread's range, as two numbers of
        // 16 bits. In later rounds, the range is still whole.
        std::atomic<uint64_t> left{0};
        // The number of a round and how many units the thread has done.
        alignas(64) std::atomic<uint64_t> done{0};
        std::atomic<uint32_t> sleeping{0};
        // Of a job whose times are taken.
        alignas(64) Clock::time_point first, last;
        double work = 0;
    };

    void work(int part);
    uint64_t wait_for_start(int part, uint64_t seen, Clock::time_point& worked);
    void wake_up_to(int behind);
    bool take(int part, bool own, const Round& round, Units& units);
    uint32_t do_units(int part, const Round& round);
    void call(int part, Units units);
    bool is_over(const Round& round) const;
    void wait_for_end(const Round& round, Clock::duration worked);
    void learn_of_stall(Clock::time_point now);
    void add_times(Clock::time_point begin, const Round& round);

    int threads_;
    int most_;
    int processors_;
    std::vector<std::thread> workers_;
    std::unique_ptr<Worker[]> parts_;
    Times* times_ = nullptr;
    uint32_t number_ = 0;  // of the last round
    // After a stall, a job gets fewer threads for some time.
    int limit_;
    Clock::time_point until_;
    std::chrono::milliseconds patience_{0};
    Start start_;
    alignas(64) std::atomic<uint32_t> waiting_{0};  // the caller sleeps until the job is over
    std::atomic<bool> stop_{false};
};

}  // namespace lemma::runtime
