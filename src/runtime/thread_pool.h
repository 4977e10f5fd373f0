// SPDX-License-Identifier: Apache-2.0
// runtime/thread_pool.h — threads that share the items of one job after another. Jobs may come as a
// series: whoever does the last item of one starts the next, so that no thread has to ask another
// what follows. Waiting threads spin for a moment and then sleep, so that they do not slow a busy
// machine.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
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
        bool measured = true;     // if it has one thread; others always are
        double seconds = 0;       // of an item, in the caller's thread; 0: not measured
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

    // Calls the functions of all jobs for all of their items, in contiguous pieces, from several
    // threads. No job starts before the one before it is done. Each thread owns a range of a job. A
    // thread that is done takes pieces from the far ends of other ranges (work stealing), so nobody
    // waits for a thread that has not started. The caller's thread does jobs for one thread by
    // itself, in between. Sets `seconds`.
    void run(std::span<Job> jobs);
    // The same for one job. Returns its `seconds`.
    double run(Job job);

    // Adds up times from now on, or ends it (null).
    void measure(Times* times);

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
    // A job of the series in a run. All threads read it when they start the job. It does not change
    // while its series is not done.
    struct alignas(64) Entry {
        uint64_t round = 0;  // packed
        Function function = nullptr;
        void* context = nullptr;
        int64_t items = 0, unit = 1;
        bool timed = false;
        Clock::time_point begin;  // if its times are taken
        // The units that nobody has done; above them, a bit for each of the first threads whose
        // range may have units that nobody has taken.
        alignas(64) std::atomic<uint64_t> left{0};
    };
    // What a thread has to itself, in cache lines by who writes and reads them.
    struct alignas(64) Worker {
        // The number of a round and the remaining units of this thread's range, as two numbers of
        // 16 bits. In later rounds, the range is still whole.
        std::atomic<uint64_t> left{0};
        alignas(64) std::atomic<uint32_t> sleeping{0};
    };
    // The work of a thread in a job whose times are taken.
    struct alignas(64) Record {
        Clock::time_point last;
        double work = 0;
    };
    // How a job is divided.
    struct Division {
        int64_t unit = 1, units = 0, grain = 1, threads = 0;
    };

    void work(int part);
    uint64_t wait_for_round(int part, uint64_t seen, Clock::time_point since);
    void start_round(uint32_t number);
    bool take(int part, bool own, const Round& round, Units& units);
    uint32_t do_units(int part, const Round& round);
    void call(int part, const Round& round, Units units);
    static void fetch(const Entry& next);
    Division divide(const Job& job, int most) const;
    void run_alone(Job& job);
    size_t prepare(std::span<const Job> jobs, int most);
    void run_series(std::span<Job> jobs);
    Entry& entry(uint32_t number);
    Record& record(uint32_t number, int part);
    void learn_of_stall(Clock::time_point now);
    void add_times(uint32_t number);

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
    std::unique_ptr<Entry[]> entries_;            // of the last rounds, by number
    std::unique_ptr<Record[]> records_;           // likewise, and by thread; if times are taken
    alignas(64) std::atomic<uint64_t> round_{0};  // that threads may work on
    alignas(64) std::atomic<uint32_t> sleepers_{0};
    std::atomic<bool> stop_{false};
};

}  // namespace lemma::runtime
