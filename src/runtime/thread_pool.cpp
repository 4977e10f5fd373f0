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
constexpr size_t kMostJobs = 32;         // of a series; one more round ends it
constexpr uint32_t kEntries = 64;

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

// The bit of a thread in Entry::left, if it has one.
constexpr int kBits = 32;
uint64_t bit_of(int part) { return part < kBits ? uint64_t{1} << (kBits + part) : 0; }

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
      limit_(most_),
      entries_(std::make_unique<Entry[]>(kEntries)) {
    LEMMA_CHECK(threads >= 1);
    for (int part = 1; part < most_; ++part) {
        workers_.emplace_back([this, part] { work(part); });
    }
}

ThreadPool::~ThreadPool() {
    stop_.store(true);
    const Round last{.number = ++number_, .threads = static_cast<uint32_t>(most_)};
    entry(last.number).round = last.packed();
    start_round(last.number);
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

// ---- Rounds -------------------------------------------------------------------------------------

ThreadPool::Entry& ThreadPool::entry(uint32_t number) { return entries_[number % kEntries]; }

ThreadPool::Record& ThreadPool::record(uint32_t number, int part) {
    return records_[static_cast<size_t>(number % kEntries) * static_cast<size_t>(most_) +
                    static_cast<size_t>(part)];
}

// The caller's thread takes part in all rounds. Once it knows of the last one, it may use the
// entries for another series.
void ThreadPool::start_round(uint32_t number) {
    Entry& next = entry(number);
    if (next.timed) next.begin = Clock::now();
    const uint64_t round = next.round;
    round_.store(round);
    if (sleepers_.load() == 0) return;
    const int threads = std::max(1, static_cast<int>(Round::unpacked(round).threads));
    for (int part = 0; part < threads; ++part) {
        std::atomic<uint32_t>& sleeping = parts_[static_cast<size_t>(part)].sleeping;
        if (sleeping.load() != 0 && sleeping.exchange(0) != 0) sleeping.notify_one();
    }
}

// Returns the next round that needs this thread.
uint64_t ThreadPool::wait_for_round(int part, uint64_t seen, Clock::time_point since) {
    std::atomic<uint32_t>& sleeping = parts_[static_cast<size_t>(part)].sleeping;
    uint64_t now = seen;
    const auto needed = [&] {
        now = round_.load();
        if (now == seen) return false;
        return part == 0 || part < static_cast<int>(Round::unpacked(now).threads);
    };
    for (;;) {
        const bool beside = pools_in_run.load(std::memory_order_relaxed) > 1;
        if (spin(part > 0 && beside ? kAwakeBeside : kAwake, since, needed)) return now;
        // In this order: whoever starts a round looks for sleeping threads after it.
        sleepers_.fetch_add(1);
        sleeping.store(1);
        const bool awake = needed();
        if (awake) {
            sleeping.store(0);
        } else {
            sleeping.wait(1);
        }
        sleepers_.fetch_sub(1);
        if (awake) return now;
        since = Clock::now();
    }
}

void ThreadPool::work(int part) {
    uint64_t seen = 0;
    auto worked = Clock::now();
    for (;;) {
        seen = wait_for_round(part, seen, worked);
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

void ThreadPool::call(int part, const Round& round, Units units) {
    const Entry& job = entry(round.number);
    const int64_t begin = units.begin * job.unit;
    const int64_t end = std::min(units.end * job.unit, job.items);
    if (!job.timed) return job.function(job.context, begin, end);
    const auto start = Clock::now();
    job.function(job.context, begin, end);
    Record& own = record(round.number, part);
    own.last = Clock::now();
    own.work += seconds(own.last - start);
}

// Brings the next job into the cache of this thread, before all threads want it at once.
void ThreadPool::fetch(const Entry& next) {
    constexpr int kLines = 3, kLine = 64;
    for (int line = 0; line < kLines; ++line) {
        __builtin_prefetch(static_cast<const std::byte*>(next.context) + line * kLine);
    }
}

// Returns the number of units. Whoever does the last ones starts the next round.
uint32_t ThreadPool::do_units(int part, const Round& round) {
    uint32_t all = 0, done = 0;
    uint64_t left = ~uint64_t{0};  // before the last report
    const auto work = [&](Units units) {
        call(part, round, units);
        done += units.end - units.begin;
    };
    const auto report = [&](uint64_t bit) {
        all += done;
        left = entry(round.number).left.fetch_sub(bit | done);
        if (static_cast<uint32_t>(left) == done) start_round(round.number + 1);
        done = 0;
    };
    Units units;
    while (take(part, true, round, units)) work(units);
    if (done > 0) {
        fetch(entry(round.number + 1));
        report(bit_of(part));
    }
    const int threads = static_cast<int>(round.threads);
    for (int offset = 1; offset < threads; ++offset) {
        if (number_of(round_.load(std::memory_order_relaxed)) != round.number) break;
        const int other = (part + offset) % threads;
        if (other < kBits && (left & bit_of(other)) == 0) continue;
        while (take(other, false, round, units)) {
            work(units);
            report(0);
        }
    }
    return all;
}

// ---- The caller ---------------------------------------------------------------------------------

// Among at most so many threads.
ThreadPool::Division ThreadPool::divide(const Job& job, int most) const {
    Division result;
    if (job.items <= 0) return result;
    result.unit = (job.items - 1) / kMostUnits + 1;
    result.units = (job.items - 1) / result.unit + 1;
    result.grain = std::clamp<int64_t>(job.grain / result.unit, 1, result.units);
    result.threads = std::min<int64_t>({job.threads, most, result.units / result.grain});
    return result;
}

double ThreadPool::run(Job job) {
    run({&job, 1});
    return job.seconds;
}

void ThreadPool::run(std::span<Job> jobs) {
    if (limit_ < most_ && Clock::now() > until_) {
        ++limit_;
        until_ = Clock::now() + patience_;
    }
    const int most = available();
    while (!jobs.empty()) {
        const size_t count = prepare(jobs, most);
        if (count > 0) {
            run_series(jobs.first(count));
        } else {
            run_alone(jobs.front());
        }
        jobs = jobs.subspan(std::max<size_t>(count, 1));
    }
}

void ThreadPool::run_alone(Job& job) {
    if (job.items <= 0) return;
    if (!job.measured) return job.function(job.context, 0, job.items);
    const auto begin = Clock::now();
    job.function(job.context, 0, job.items);
    job.seconds = seconds(Clock::now() - begin) / static_cast<double>(job.items);
}

// Fills the entries of a series: the first jobs, up to one for one thread. Returns their number.
size_t ThreadPool::prepare(std::span<const Job> jobs, int most) {
    const uint32_t before = number_;
    size_t count = 0;
    for (; count < std::min(jobs.size(), kMostJobs); ++count) {
        const Job& job = jobs[count];
        const Division parts = divide(job, most);
        if (parts.threads <= 1) break;
        Round round{.number = ++number_,
                    .units = static_cast<uint32_t>(parts.units),
                    .threads = static_cast<uint32_t>(parts.threads),
                    .backwards = job.backwards};
        round.grain = static_cast<uint32_t>(std::bit_width(static_cast<uint64_t>(parts.grain)) - 1);
        Entry& to = entry(number_);
        to.round = round.packed();
        to.function = job.function;
        to.context = job.context;
        to.items = job.items;
        to.unit = parts.unit;
        to.timed = times_ != nullptr;
        uint64_t left = round.units;
        for (int part = 0; part < static_cast<int>(parts.threads); ++part) left |= bit_of(part);
        to.left.store(left, std::memory_order_relaxed);
        for (int part = 0; times_ && part < most_; ++part) record(number_, part) = {};
    }
    if (count == 0) return 0;
    Entry& end = entry(++number_);
    end.round = Round{.number = number_}.packed();
    end.timed = times_ != nullptr;
    // Numbers of rounds start again at 0, so none may be very old.
    if (before / kRenewed != number_ / kRenewed) {
        for (int part = 0; part < most_; ++part) {
            parts_[static_cast<size_t>(part)].left.store(range(before, 0, 0));
        }
    }
    return count;
}

// The jobs that were prepared.
void ThreadPool::run_series(std::span<Job> jobs) {
    const uint32_t first = number_ - static_cast<uint32_t>(jobs.size());
    // Read before others want `round_`.
    uint64_t seen = entry(first).round;
    start_round(first);
    while (number_of(seen) != number_) {
        const Round round = Round::unpacked(seen);
        const auto begin = Clock::now();
        const uint32_t done = do_units(0, round);
        const auto end = Clock::now();
        const auto worked = end - begin;
        if (done > 0) {
            const auto items = static_cast<double>(done * entry(round.number).unit);
            jobs[round.number - first].seconds = seconds(worked) / items;
        }
        seen = wait_for_round(0, seen, end);
        const auto now = Clock::now();
        if (now - end > kStall && now - end > kStallTimes * worked) learn_of_stall(now);
    }
    for (uint32_t number = first; times_ && number != number_; ++number) add_times(number);
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

void ThreadPool::measure(Times* times) {
    times_ = times;
    if (times_ && !records_) {
        records_ = std::make_unique<Record[]>(kEntries * static_cast<size_t>(most_));
    }
}

void ThreadPool::add_times(uint32_t number) {
    const auto end = entry(number + 1).begin;
    const double all = seconds(end - entry(number).begin);
    const auto threads = static_cast<int>(Round::unpacked(entry(number).round).threads);
    times_->jobs += all;
    for (int part = 0; part < most_; ++part) {
        const Record& worker = record(number, part);
        if (part >= threads) {
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
