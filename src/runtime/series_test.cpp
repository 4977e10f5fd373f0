// SPDX-License-Identifier: Apache-2.0
#include "runtime/series.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>

namespace lemma::runtime {
namespace {

constexpr int64_t kItems = 50;

// to[i] = from[i] + 1 for i64 elements; a thread's memory holds the sum in between.
void next(void* const* buffers, int64_t begin, int64_t end) {
    auto* to = static_cast<int64_t*>(buffers[0]);
    const auto* from = static_cast<const int64_t*>(buffers[1]);
    auto* between = static_cast<int64_t*>(buffers[2]);
    for (int64_t i = begin; i < end; ++i) {
        *between = from[i] + 1;
        to[i] = *between;
    }
}

// The same; an index is outside from item 40 on.
void fail(void* const* buffers, int64_t begin, int64_t end) {
    next(buffers, begin, end);
    if (end > 40) std::atomic_ref(*static_cast<int64_t*>(buffers[3])).store(1);
}

class SeriesTest : public testing::Test {
protected:
    SeriesTest() { EXPECT_TRUE(scratch_.allocate(4, 64, false)); }

    KernelCall call(size_t to, size_t from) const {
        KernelCall made;
        made.kernel = next;
        made.buffers = {to, from, kScratch};
        made.items = kItems;
        return made;
    }
    std::array<std::array<int64_t, kItems>, 4> data_{};
    std::vector<void*> pieces_{&data_[0], &data_[1], &data_[2], &data_[3]};
    ScratchMemory scratch_;
    ThreadPool pool_{4, 4};
    Series series_{pool_, pieces_, scratch_};
};

TEST_F(SeriesTest, RunsCallsInOrder) {
    const KernelCall there = call(1, 0), back = call(0, 1);
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(series_.has_room(2));
        series_.add(there, 0, kItems, i % 2 != 0);
        series_.add(back, 0, kItems);
    }
    ASSERT_TRUE(series_.run());
    EXPECT_TRUE(series_.empty());
    for (const int64_t number : data_[0]) EXPECT_EQ(number, 40);
    for (const int64_t number : data_[1]) EXPECT_EQ(number, 39);
    EXPECT_NE(there.seconds, KernelCall().seconds);
}

TEST_F(SeriesTest, RunsSomeItems) {
    const KernelCall there = call(1, 0);
    series_.add(there, 10, 20);
    ASSERT_TRUE(series_.run());
    for (int64_t i = 0; i < kItems; ++i) EXPECT_EQ(data_[1][i], i >= 10 && i < 20 ? 1 : 0) << i;
}

TEST_F(SeriesTest, AWaveIsOneJob) {
    KernelWave wave;
    wave.calls = {call(1, 0), call(2, 0), call(3, 0)};
    wave.calls[1].items = 1;
    const KernelCall last = call(0, 3);
    for (int i = 0; i < 3; ++i) {
        series_.add(wave);
        series_.add(last, 0, kItems);
    }
    ASSERT_TRUE(series_.run());
    EXPECT_EQ(data_[0][7], 6);
    EXPECT_EQ(data_[1][7], 5);
    EXPECT_EQ(data_[2][0], 5);
    EXPECT_EQ(data_[2][7], 0);
}

// Nothing may follow a call that can leave its tensors before its outcome is known.
TEST_F(SeriesTest, ACallThatCanFailIsTheLast) {
    KernelCall failing = call(1, 0);
    failing.kernel = fail;
    failing.buffers.push_back(kFlag);
    series_.add(failing, 0, 30);
    EXPECT_FALSE(series_.has_room(1));
    EXPECT_TRUE(series_.run());
    EXPECT_TRUE(series_.has_room(1));
    series_.add(failing, 0, kItems);
    const auto failed = series_.run();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "an index is outside of its tensor");
    series_.add(failing, 0, 30);
    EXPECT_TRUE(series_.run());
}

TEST_F(SeriesTest, IsShort) {
    KernelCall slow = call(1, 0);
    slow.seconds = 1;
    EXPECT_TRUE(series_.has_room(1000));
    series_.add(slow, 0, kItems);
    EXPECT_FALSE(series_.has_room(1));
    EXPECT_TRUE(series_.run());
    const KernelCall quick = call(1, 0);
    int calls = 0;
    for (; series_.has_room(1); ++calls) series_.add(quick, 0, 1);
    EXPECT_GT(calls, 8);
    EXPECT_LT(calls, 200);
    EXPECT_TRUE(series_.run());
    EXPECT_EQ(data_[1][0], 1);
}

TEST_F(SeriesTest, CallsMayHaveManyBuffers) {
    KernelCall many = call(1, 0);
    many.buffers.resize(100, 3);
    series_.add(many, 0, kItems);
    ASSERT_TRUE(series_.run());
    EXPECT_EQ(data_[1][49], 1);
}

}  // namespace
}  // namespace lemma::runtime
