// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_pool.h"

#include <gtest/gtest.h>

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
        for (const int64_t items : {1, 2, 7, 16, 63, 1000}) {
            for (int round = 0; round < 50; ++round) {
                Seen seen(static_cast<size_t>(items));
                pool.run({count, &seen, items, 1, threads, round % 2 != 0});
                for (const auto& times : seen.times) ASSERT_EQ(times.load(), 1);
            }
        }
    }
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
    for (int i = 0; i < 20000; ++i) {
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
