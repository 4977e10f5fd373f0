// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_pool.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lemma::runtime {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int kPauses = 32;               // then a waiting thread looks at the clock
constexpr microseconds kAwake{150};       // then it sleeps, and its processor is free for others
constexpr microseconds kAwakeBeside{20};  // likewise while other pools need the processors
constexpr uint32_t kOwnShare = 8;         // a thread takes this part of its remaining range,
constexpr uint32_t kStolenShare = 8;      // or this part of another one
constexpr microseconds kStall{300};       // a longer wait may mean that a thread is suspended,
constexpr int kStallTimes = 4;            // if it is also so many times the work before it
constexpr int kLeastToSpare = 4;          // threads of which one may be left out
constexpr milliseconds kPatience{20}, kMostPatience{1280};
constexpr int64_t kMostUnits = 0xFFFF;
constexpr int kMostThreads = 1023;
constexpr uint32_t kRenewed = 1U << 20;  // rounds

std::atomic<int> pools_in_run{0};

void pause() {
#if defined(__x86_64__)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

// The number of a round in the upper half.
uint64_t tagged(uint32_t number, uint32_t value) { return uint64_t{number} << 32 | value; }
uint32_t number_of(uint64_t bits) { return static_cast<uint32_t>(bits >> 32); }

uint64_t range(uint32_t number, uint32_t begin, uint32_t end) {
    return tagged(number, begin << 16 | end);
}

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
        if (std::chrono::steady_clock::now() - begin > limit) return false;
    }
}

}  // namespace

uint64_t ThreadPool::Round::packed() const {
    return tagged(number, units << 16 | threads << 6 | grain << 1 | (backwards ? 1 : 0));
}

ThreadPool::Round ThreadPool::Round::unpacked(uint64_t bits) {
    Round round;
    round.number = number_of(bits);
    round.units = static_cast<uint32_t>(bits >> 16 & 0xFFFF);
    round.threads = static_cast<uint32_t>(bits >> 6 & 0x3FF);
    round.grain = static_cast<uint32_t>(bits >> 1 & 0x1F);
    round.backwards = (bits & 1) != 0;
    return round;
}

ThreadPool::ThreadPool(int threads, int processors)
    : threads_(threads),
      most_(std::clamp(processors, 1, std::min(threads, kMostThreads))),
      processors_(processors),
      parts_(std::make_unique<Worker[]>(static_cast<size_t>(most_))),
      limit_(most_) {
    LEMMA_CHECK(threads >= 1);
    for (int part = 1; part < most_; ++part) {
        workers_.emplace_back([this, part] { work(part); });
    }
}

ThreadPool::~ThreadPool() {
    stop_.store(true);
    const Round last{.number = ++number_, .threads = static_cast<uint32_t>(most_)};
    start_.round.store(last.packed());
    wake_up_to(most_);
    for (std::thread& worker : workers_) worker.join();
}

ThreadPool::Run::Run(const ThreadPool& pool) : counts_(pool.processors_ > 1) {
    if (counts_) pools_in_run.fetch_add(1, std::memory_order_relaxed);
}

ThreadPool::Run::~Run() {
    if (counts_) pools_in_run.fetch_sub(1, std::memory_order_relaxed);
}

int ThreadPool::available() const {
    const int pools = std::max(1, pools_in_run.load(std::memory_order_relaxed));
    return std::min(limit_, std::max(1, processors_ / pools));
}

// ---- Workers ------------------------------------------------------------------------------------

// Returns the next round that needs this thread.
uint64_t ThreadPool::wait_for_start(int part, uint64_t seen, Clock::time_point& worked) {
    std::atomic<uint32_t>& sleeping = parts_[static_cast<size_t>(part)].sleeping;
    uint64_t now = seen;
    const auto needed = [&] {
        now = start_.round.load();
        return now != seen && part < static_cast<int>(Round::unpacked(now).threads);
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
        do_units(part, Round::unpacked(seen));
        worked = Clock::now();
    }
}

// The owner takes from one end, others from the other. Of a round that is over, all ranges are
// empty, or those of a later round.
bool ThreadPool::take(int part, bool own, const Round& round, Units& units) {
    std::atomic<uint64_t>& left = parts_[static_cast<size_t>(part)].left;
    uint64_t now = left.load(std::memory_order_acquire);
    for (;;) {
        Units rest{round.begin_of(part), round.begin_of(part + 1)};
        if (const uint32_t number = number_of(now); number == round.number) {
            rest = {static_cast<uint32_t>(now >> 16 & 0xFFFF), static_cast<uint32_t>(now & 0xFFFF)};
        } else if (static_cast<int32_t>(number - round.number) > 0) {
            return false;
        }
        if (rest.begin >= rest.end) return false;
        const uint32_t count = rest.end - rest.begin;
        const uint32_t least = std::min(1U << round.grain, count);
        uint32_t taken = std::max(least, count / (own ? kOwnShare : kStolenShare));
        if (count - taken < least) taken = count;
        units = rest;
        if (own != round.backwards) {
            rest.begin = units.end = units.begin + taken;
        } else {
            rest.end = units.begin = units.end - taken;
        }
        if (left.compare_exchange_weak(now,
                                       range(round.number, rest.begin, rest.end),
                                       std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
            return true;
        }
    }
}

void ThreadPool::call(int part, Units units) {
    const int64_t begin = units.begin * start_.unit;
    const int64_t end = std::min(units.end * start_.unit, start_.items);
    if (!start_.timed) return start_.function(start_.context, begin, end);
    Worker& own = parts_[static_cast<size_t>(part)];
    const auto start = Clock::now();
    if (own.work == 0) own.first = start;
    start_.function(start_.context, begin, end);
    own.last = Clock::now();
    own.work += seconds(own.last - start);
}

// Returns the number of units. Each thread counts what it has done in its own cache line.
uint32_t ThreadPool::do_units(int part, const Round& round) {
    uint32_t done = 0;
    const auto report = [&] {
        parts_[static_cast<size_t>(part)].done.store(tagged(round.number, done));
        if (waiting_.load() != 0 && waiting_.exchange(0) != 0) waiting_.notify_one();
    };
    Units units;
    while (take(part, true, round, units)) {
        call(part, units);
        done += units.end - units.begin;
    }
    if (done > 0) report();
    const int threads = static_cast<int>(round.threads);
    for (int offset = 1; offset < threads; ++offset) {
        while (take((part + offset) % threads, false, round, units)) {
            call(part, units);
            done += units.end - units.begin;
            report();
        }
        if (number_of(start_.round.load(std::memory_order_relaxed)) != round.number) break;
    }
    return done;
}

// ---- The caller ---------------------------------------------------------------------------------

void ThreadPool::wake_up_to(int behind) {
    for (int part = 1; part < behind; ++part) {
        std::atomic<uint32_t>& sleeping = parts_[static_cast<size_t>(part)].sleeping;
        if (sleeping.load() != 0 && sleeping.exchange(0) != 0) sleeping.notify_one();
    }
}

double ThreadPool::run(const Job& job) {
    if (job.items <= 0) return 0;
    if (limit_ < most_ && Clock::now() > until_) {
        ++limit_;
        until_ = Clock::now() + patience_;
    }
    const int64_t unit = (job.items - 1) / kMostUnits + 1;
    const int64_t units = (job.items - 1) / unit + 1;
    const int64_t grain = std::clamp<int64_t>(job.grain / unit, 1, units);
    const int64_t threads = std::min<int64_t>({job.threads, available(), units / grain});
    if (threads <= 1) {
        job.function(job.context, 0, job.items);
        return 0;
    }
    Round round{.number = ++number_,
                .units = static_cast<uint32_t>(units),
                .threads = static_cast<uint32_t>(threads),
                .grain = static_cast<uint32_t>(std::bit_width(static_cast<uint64_t>(grain)) - 1),
                .backwards = job.backwards};
    // Numbers of rounds start again at 0, so none may be very old.
    if (round.number % kRenewed == 0) {
        for (int part = 0; part < most_; ++part) {
            parts_[static_cast<size_t>(part)].left.store(range(round.number - 1, 0, 0));
            parts_[static_cast<size_t>(part)].done.store(tagged(round.number - 1, 0));
        }
    }
    if (times_) {
        for (int part = 0; part < most_; ++part) parts_[static_cast<size_t>(part)].work = 0;
    }
    start_.function = job.function;
    start_.context = job.context;
    start_.items = job.items;
    start_.unit = unit;
    start_.timed = times_ != nullptr;
    const auto begin = Clock::now();
    start_.round.store(round.packed());
    wake_up_to(static_cast<int>(threads));
    const uint32_t done = do_units(0, round);
    const auto worked = Clock::now() - begin;
    wait_for_end(round, worked);
    if (times_) add_times(begin, round);
    return done > 0 ? seconds(worked) / static_cast<double>(done * unit) : 0;
}

bool ThreadPool::is_over(const Round& round) const {
    uint64_t done = 0;
    for (uint32_t part = 0; part < round.threads; ++part) {
        const uint64_t bits = parts_[part].done.load();
        if (number_of(bits) == round.number) done += bits & 0xFFFF'FFFF;
    }
    return done == round.units;
}

void ThreadPool::wait_for_end(const Round& round, Clock::duration worked) {
    const auto begin = Clock::now();
    if (spin(kAwake, begin, [&] { return is_over(round); })) return;
    while (!is_over(round)) {
        waiting_.store(1);
        if (is_over(round)) break;
        waiting_.wait(1);
    }
    waiting_.store(0);
    const auto now = Clock::now();
    if (now - begin > kStall && now - begin > kStallTimes * worked) learn_of_stall(now);
}

// The system has suspended a thread in the middle of its work, and the others had to wait. With a
// thread less there is a processor for others, here or on the host of a virtual machine.
void ThreadPool::learn_of_stall(Clock::time_point now) {
    if (most_ < kLeastToSpare) return;
    const bool again = now < until_ + patience_;
    patience_ = again ? std::min(2 * patience_, kMostPatience) : kPatience;
    until_ = now + patience_;
    limit_ = std::max(limit_ - 1, most_ - std::max(1, most_ / 8));
}

void ThreadPool::add_times(Clock::time_point begin, const Round& round) {
    const auto end = Clock::now();
    const double all = seconds(end - begin);
    times_->jobs += all;
    for (int part = 0; part < most_; ++part) {
        const Worker& worker = parts_[static_cast<size_t>(part)];
        if (part >= static_cast<int>(round.threads)) {
            times_->left_out += all;
        } else if (worker.work == 0) {
            times_->waiting += all;
        } else {
            const double tail = seconds(end - worker.last);
            times_->work += worker.work;
            times_->waiting += all - worker.work - tail;
            times_->tail += tail;
        }
    }
}

}  // namespace lemma::runtime
