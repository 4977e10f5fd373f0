// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>

namespace lemma::runtime {
namespace {

struct Seen {
    std::vector<std::atomic<int>> times;
    explicit Seen(size_t items) : times(items) {}
};

void count(void* context, int64_t begin, int64_t end) {
    Seen& seen = *static_cast<Seen*>(context);
    for (int64_t i = begin; i < end; ++i) ++seen.times[static_cast<size_t>(i)];
}

TEST(ThreadPool, DoesEveryItemOnce) {
    for (const int threads : {1, 2, 3, 8}) {
        ThreadPool pool(threads, threads);
        for (const int64_t items : {1, 2, 7, 16, 63, 1000, 70000}) {
            for (int round = 0; round < 20; ++round) {
                Seen seen(static_cast<size_t>(items));
                pool.run({count, &seen, items, 1, threads, round % 2 != 0});
                for (const auto& times : seen.times) ASSERT_EQ(times.load(), 1);
            }
        }
    }
}

TEST(ThreadPool, TakesAtLeastTheGrainAndAtMostTheThreadsOfAJob) {
    ThreadPool pool(8, 8);
    struct Calls {
        std::mutex mutex;
        int64_t items = 0, shortest = INT64_MAX;
        std::set<std::thread::id> threads;
    };
    for (const int64_t grain : {1, 3, 16, 500, 5000}) {
        Calls calls;
        const auto note = [](void* context, int64_t begin, int64_t end) {
            Calls& to = *static_cast<Calls*>(context);
            const std::lock_guard lock(to.mutex);
            to.items += end - begin;
            to.shortest = std::min(to.shortest, end - begin);
            to.threads.insert(std::this_thread::get_id());
        };
        pool.run(
            {.function = note, .context = &calls, .items = 1000, .grain = grain, .threads = 3});
        EXPECT_EQ(calls.items, 1000);
        EXPECT_GE(calls.shortest, std::min<int64_t>(grain / 2 + 1, 1000)) << grain;
        EXPECT_LE(calls.threads.size(), 3U);
    }
}

TEST(ThreadPool, AsksForNoMoreThreadsThanProcessors) {
    ThreadPool pool(16, 2);
    EXPECT_EQ(pool.threads(), 16);
    EXPECT_EQ(pool.usable_threads(), 2);
    EXPECT_EQ(pool.available(), 2);
    Seen seen(100);
    pool.run({count, &seen, 100});
    for (const auto& times : seen.times) EXPECT_EQ(times.load(), 1);
}

TEST(ThreadPool, PoolsInARunShareTheProcessors) {
    ThreadPool one(8, 8);
    ThreadPool other(8, 8);
    EXPECT_EQ(one.available(), 8);
    const ThreadPool::Run first(one);
    EXPECT_EQ(one.available(), 8);
    {
        const ThreadPool::Run second(other);
        EXPECT_EQ(one.available(), 4);
        EXPECT_EQ(other.available(), 4);
    }
    EXPECT_EQ(one.available(), 8);
}

// Each job adds up what the one before it has written.
struct Link {
    const std::vector<int64_t>* from;
    std::vector<int64_t> to;
};
void add_up(void* context, int64_t begin, int64_t end) {
    Link& link = *static_cast<Link*>(context);
    int64_t sum = 1;
    for (const int64_t number : *link.from) sum += number;
    for (int64_t i = begin; i < end; ++i) link.to[static_cast<size_t>(i)] = sum % 1000 + i;
}

// Jobs of all sizes, more than a series has, and some without items or with one thread.
std::vector<int64_t> chain(ThreadPool& pool, size_t length) {
    const std::vector<int64_t> first = {1};
    std::vector<Link> links(length);
    std::vector<ThreadPool::Job> jobs;
    const std::vector<int64_t>* from = &first;
    for (size_t i = 0; i < length; ++i) {
        const size_t items = i % 11 == 5 ? 0 : 1 + i * 37 % 90;
        links[i] = {from, std::vector<int64_t>(items)};
        from = &links[i].to;
        ThreadPool::Job job{add_up, &links[i], static_cast<int64_t>(items)};
        job.grain = 1 + static_cast<int64_t>(i % 3);
        job.threads = i % 7 == 3 ? 1 : 8;
        job.backwards = i % 2 != 0;
        jobs.push_back(job);
    }
    pool.run(jobs);
    for (const ThreadPool::Job& job : jobs) EXPECT_GE(job.seconds, 0);
    return links.back().to;
}

TEST(ThreadPool, AJobOfASeriesSeesTheOneBeforeIt) {
    ThreadPool alone(1);
    for (const int threads : {2, 3, 8}) {
        ThreadPool pool(threads, threads);
        for (const size_t length : {1, 2, 3, 31, 32, 33, 100, 139}) {
            for (int round = 0; round < 5; ++round) {
                ASSERT_EQ(chain(pool, length), chain(alone, length)) << threads << " " << length;
            }
        }
    }
}

TEST(ThreadPool, MeasuresTheJobsOfASeries) {
    ThreadPool pool(2, 2);
    Seen seen(1000);
    std::vector<ThreadPool::Job> jobs(3, {count, &seen, 1000});
    jobs[1].threads = 1;
    pool.run(jobs);
    EXPECT_GT(jobs[1].seconds, 0);
    for (const auto& times : seen.times) EXPECT_EQ(times.load(), 3);
    jobs[1].measured = false;
    jobs[1].seconds = 0;
    pool.run({&jobs[1], 1});
    EXPECT_EQ(jobs[1].seconds, 0);
}

// Many threads on few processors, in several pools at a time: every item is done once, and nothing
// waits forever.
TEST(ThreadPool, WorksBesideOtherPoolsOnFewProcessors) {
    std::vector<std::thread> callers;
    std::atomic<int> wrong{0};
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&wrong, caller] {
            ThreadPool pool(16, 16);
            for (int round = 0; round < 200; ++round) {
                const ThreadPool::Run run(pool);
                const int64_t items = 1 + (round * 37 + caller * 11) % 300;
                Seen seen(static_cast<size_t>(items));
                const int64_t grain = 1 + round % 5;
                std::vector<ThreadPool::Job> jobs(1 + static_cast<size_t>(round % 4),
                                                  {count, &seen, items, grain, 16, round % 3 == 0});
                pool.run(jobs);
                for (const auto& times : seen.times) wrong += times.load() != 1 + round % 4;
            }
        });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wrong.load(), 0);
}

TEST(ThreadPool, TimesOfThreadsAddUpToTheJobs) {
    ThreadPool pool(3, 3);
    ThreadPool::Times times;
    pool.measure(&times);
    Seen seen(64);
    std::vector<ThreadPool::Job> jobs(100, {count, &seen, 64, 1, 2});
    pool.run(jobs);
    pool.run(jobs[0]);
    pool.measure(nullptr);
    EXPECT_GT(times.jobs, 0);
    EXPECT_GT(times.work, 0);
    const double all = times.work + times.waiting + times.tail + times.left_out;
    EXPECT_NEAR(all, 3 * times.jobs, 1e-9);
    EXPECT_NEAR(times.left_out, times.jobs, 1e-9);
    const double before = times.jobs;
    pool.run({count, &seen, 64});
    EXPECT_EQ(times.jobs, before);
}

// The caller's thread does the work of late threads.
TEST(ThreadPool, NothingIsLeftToThreadsThatSleep) {
    ThreadPool pool(8, 8);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    Seen seen(64);
    pool.run({count, &seen, 64});
    for (const auto& times : seen.times) EXPECT_EQ(times.load(), 1);
}

// A thread that wakes for a round while the pool ends must not wait for another round.
TEST(ThreadPool, EndsRightBehindARound) {
    for (int i = 0; i < 5000; ++i) {
        ThreadPool pool(3, 3);
        Seen seen(2);
        pool.run({count, &seen, 2});
    }
}

void first_item(void* context, int64_t begin, int64_t end) {
    auto& order = *static_cast<std::vector<int64_t>*>(context);
    for (int64_t i = begin; i < end; ++i) order.push_back(i);
}

TEST(ThreadPool, OneThreadKeepsTheOrder) {
    ThreadPool pool(1);
    std::vector<int64_t> order;
    pool.run({first_item, &order, 5});
    EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace lemma::runtime
