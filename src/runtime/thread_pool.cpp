// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_pool.h"

#include <algorithm>

#include "base/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lemma::runtime {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int kPauses = 32;                  // about 2 µs; then a waiting thread looks at the clock
constexpr microseconds kSpinning{20};        // then it gives way to other threads
constexpr microseconds kAwake{400};          // then it sleeps
constexpr microseconds kAwakeBeside{20};     // likewise if other pools need the processors
constexpr int64_t kOwnShare = 4;             // a thread takes this part of its remaining range,
constexpr int64_t kStolenShare = 8;          // or this part of another one
constexpr microseconds kStall{500};          // a longer wait may mean that a thread is suspended
constexpr double kStallPieces = 8;           // as may a wait for so many pieces
constexpr milliseconds kFirstPatience{20};   // a thread is left out for so long,
constexpr milliseconds kMostPatience{1280};  // and longer each time
constexpr int64_t kMostUnits = int64_t{1} << 31;

std::atomic<int> pools_in_run{0};

void pause() {
#if defined(__x86_64__)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

uint64_t packed(int64_t first, int64_t behind) {
    return static_cast<uint64_t>(first) << 32 | static_cast<uint64_t>(behind);
}

int threads_of(uint64_t round) { return static_cast<int>(round & 0xFFFF); }

double seconds(std::chrono::steady_clock::duration time) {
    return std::chrono::duration<double>(time).count();
}

// Calls `done` until it returns true, or until `limit` is over: then false.
template <class Done>
bool spin(microseconds limit, std::chrono::steady_clock::time_point begin, const Done& done) {
    for (;;) {
        for (int i = 0; i < kPauses; ++i) {
            if (done()) return true;
            pause();
        }
        const auto waited = std::chrono::steady_clock::now() - begin;
        if (waited > limit) return false;
        if (waited > kSpinning) std::this_thread::yield();
    }
}

}  // namespace

ThreadPool::ThreadPool(int threads, int processors)
    : threads_(std::min(threads, 0xFFFF)),
      most_(std::clamp(processors, 1, threads_)),
      processors_(processors),
      parts_(std::make_unique<Worker[]>(static_cast<size_t>(threads_))),
      limit_(most_) {
    LEMMA_CHECK(threads >= 1);
    for (int part = 1; part < most_; ++part) {
        workers_.emplace_back([this, part] { work(part); });
    }
}

ThreadPool::~ThreadPool() {
    stop_.store(true);
    round_.store(((round_.load() >> 16) + 1) << 16 | static_cast<uint64_t>(most_));
    for (int part = 1; part < most_; ++part) {
        parts_[static_cast<size_t>(part)].sleeping.store(0);
        parts_[static_cast<size_t>(part)].sleeping.notify_one();
    }
    for (std::thread& worker : workers_) worker.join();
}

ThreadPool::Run::Run(ThreadPool& pool) : counts_(pool.processors_ > 1) {
    if (counts_) pools_in_run.fetch_add(1, std::memory_order_relaxed);
}

ThreadPool::Run::~Run() {
    if (counts_) pools_in_run.fetch_sub(1, std::memory_order_relaxed);
}

int ThreadPool::available() const {
    const int pools = std::max(1, pools_in_run.load(std::memory_order_relaxed));
    return std::min({limit_, most_, std::max(1, processors_ / pools)});
}

// ---- Workers ------------------------------------------------------------------------------------

// Wakes two threads, which wake two each, and so on.
void ThreadPool::wake(int part, int behind) {
    for (int child = 2 * part + 1; child <= 2 * part + 2 && child < behind; ++child) {
        std::atomic<uint32_t>& sleeping = parts_[static_cast<size_t>(child)].sleeping;
        if (sleeping.load() != 0 && sleeping.exchange(0) != 0) sleeping.notify_one();
    }
}

// Returns the next round that needs this thread.
uint64_t ThreadPool::wait_for_start(int part, uint64_t seen, Clock::time_point& worked) {
    std::atomic<uint32_t>& sleeping = parts_[static_cast<size_t>(part)].sleeping;
    uint64_t now = seen;
    const auto needed = [&] {
        now = round_.load();
        return now != seen && part < threads_of(now);
    };
    for (;;) {
        const bool beside = pools_in_run.load(std::memory_order_relaxed) > 1;
        if (spin(beside ? kAwakeBeside : kAwake, worked, needed)) return now;
        // In this order: whoever starts a round looks for sleeping threads after it.
        sleeping.store(1);
        if (needed()) {
            sleeping.store(0);
            return now;
        }
        sleeping.wait(1);
        worked = Clock::now();
    }
}

void ThreadPool::work(int part) {
    uint64_t seen = 0;
    auto worked = Clock::now();
    for (;;) {
        seen = wait_for_start(part, seen, worked);
        if (stop_.load()) return;
        wake(part, threads_of(seen));
        do_units(part);
        worked = Clock::now();
    }
}

// The owner takes from one end, others from the other. A thread with a unit may read the job, which
// does not change before that unit is done.
bool ThreadPool::take(int part, bool own, Units& units) {
    std::atomic<uint64_t>& left = parts_[static_cast<size_t>(part)].left;
    uint64_t now = left.load(std::memory_order_acquire);
    for (;;) {
        const auto first = static_cast<int64_t>(now >> 32);
        const auto behind = static_cast<int64_t>(now & 0xFFFFFFFF);
        const int64_t rest = behind - first;
        if (rest <= 0) return false;
        const int64_t grain = grain_.load(std::memory_order_relaxed);
        int64_t count = std::max(grain, rest / (own ? kOwnShare : kStolenShare));
        if (rest - count < grain) count = rest;
        const bool front = own != backwards_.load(std::memory_order_relaxed);
        const uint64_t after =
            front ? packed(first + count, behind) : packed(first, behind - count);
        if (left.compare_exchange_weak(
                now, after, std::memory_order_acq_rel, std::memory_order_acquire)) {
            units = front ? Units{first, first + count} : Units{behind - count, behind};
            return true;
        }
    }
}

void ThreadPool::call(int part, Units units) {
    const Job& job = job_;
    const int64_t begin = units.begin * unit_;
    const int64_t end = std::min(units.end * unit_, job.items);
    if (!times_) return job.function(job.context, begin, end);
    Worker& own = parts_[static_cast<size_t>(part)];
    const auto start = Clock::now();
    if (own.work == 0) own.first = start;
    job.function(job.context, begin, end);
    own.last = Clock::now();
    own.work += seconds(own.last - start);
}

// Units are reported rarely, because all threads write that number.
ThreadPool::Done ThreadPool::do_units(int part) {
    const auto report = [&](int64_t units) {
        const bool last = units > 0 && pending_.fetch_sub(units) == units;
        if (last && waiting_.load() != 0 && waiting_.exchange(0) != 0) waiting_.notify_one();
    };
    Done done;
    const auto add = [&](Units units) {
        call(part, units);
        done.units += units.count();
        ++done.calls;
    };
    Units units;
    while (take(part, true, units)) add(units);
    report(done.units);
    const uint64_t round = round_.load(std::memory_order_relaxed);
    const int threads = threads_of(round);
    for (int offset = 1; offset < threads; ++offset) {
        while (take((part + offset) % threads, false, units)) {
            add(units);
            report(units.count());
        }
        if (round_.load(std::memory_order_relaxed) != round) break;
    }
    return done;
}

// ---- The caller ---------------------------------------------------------------------------------

double ThreadPool::run(const Job& job) {
    if (job.items <= 0) return 0;
    if (limit_ < most_ && Clock::now() >= next_try_) {
        ++limit_;
        next_try_ = Clock::now() + patience_;
    }
    const int64_t unit = (job.items - 1) / kMostUnits + 1;
    const int64_t units = (job.items - 1) / unit + 1;
    const int64_t grain = std::clamp<int64_t>(job.grain / unit, 1, units);
    const int64_t threads = std::min<int64_t>({job.threads, available(), units / grain});
    if (threads <= 1) {
        job.function(job.context, 0, job.items);
        return 0;
    }
    job_ = job;
    unit_ = unit;
    grain_.store(grain, std::memory_order_relaxed);
    backwards_.store(job.backwards, std::memory_order_relaxed);
    pending_.store(units, std::memory_order_relaxed);
    for (int64_t part = 0; part < threads; ++part) {
        Worker& worker = parts_[static_cast<size_t>(part)];
        worker.work = 0;
        worker.left.store(packed(units * part / threads, units * (part + 1) / threads),
                          std::memory_order_release);
    }
    const auto begin = Clock::now();
    round_.store(((round_.load(std::memory_order_relaxed) >> 16) + 1) << 16 |
                 static_cast<uint64_t>(threads));
    wake(0, static_cast<int>(threads));
    const Done done = do_units(0);
    const double spent = seconds(Clock::now() - begin);
    wait_for_end(spent / static_cast<double>(std::max<int64_t>(done.calls, 1)));
    if (times_) add_times(begin, static_cast<int>(threads));
    return done.units > 0 ? spent / static_cast<double>(done.units * unit) : 0;
}

void ThreadPool::wait_for_end(double piece) {
    const auto begin = Clock::now();
    const auto ended = [&] { return pending_.load(std::memory_order_acquire) == 0; };
    if (spin(kAwake, begin, ended)) return;
    while (pending_.load() != 0) {
        waiting_.store(1);
        if (pending_.load() == 0) break;
        waiting_.wait(1);
    }
    waiting_.store(0);
    const auto waited = Clock::now() - begin;
    if (waited > kStall && seconds(waited) > kStallPieces * piece) learn_of_stall();
}

// The system has suspended a thread with a piece of the job. With fewer threads than processors
// there is room for others.
void ThreadPool::learn_of_stall() {
    const auto now = Clock::now();
    const bool again = patience_.count() > 0 && now < next_try_ + patience_;
    patience_ = again ? std::min(2 * patience_, kMostPatience) : kFirstPatience;
    next_try_ = now + patience_;
    limit_ = std::max(limit_ - 1, std::max(1, most_ / 2));
}

void ThreadPool::add_times(Clock::time_point begin, int asked) {
    const auto end = Clock::now();
    const double all = seconds(end - begin);
    times_->jobs += all;
    for (int part = 0; part < most_; ++part) {
        const Worker& worker = parts_[static_cast<size_t>(part)];
        if (part >= asked) {
            times_->left_out += all;
        } else if (worker.work == 0) {
            times_->waiting += all;
        } else {
            times_->work += worker.work;
            times_->waiting += all - worker.work - seconds(end - worker.last);
            times_->tail += seconds(end - worker.last);
        }
    }
}

}  // namespace lemma::runtime
