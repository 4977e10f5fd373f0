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
                pool.run({count, &seen, items, grain, 16, round % 3 == 0});
                for (const auto& times : seen.times) wrong += times.load() != 1;
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
    for (int round = 0; round < 10; ++round) pool.run({count, &seen, 64, 1, 2});
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
