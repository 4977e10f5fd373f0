// SPDX-License-Identifier: Apache-2.0
// Outputs in memory of the caller, which compiled runs use without a copy where they can.
#include <gtest/gtest.h>
#include <lemma/lemma.h>

#include <array>
#include <numeric>

#include "api/models_test.h"

namespace lemma::api {

namespace {

// `a` is read again, `b` is a view of `a`, `c` is the new value of a variable.
constexpr const char* kSeveral = R"(
import math;
import layout;
graph Several {
    @input { x: real[64, 64]; }
    @output { a: real[64, 64]; b: real[4096]; c: real[64, 64]; d: real[64]; }
    @variable { total: real[64, 64]; }
    @compose {
        small = math.mul(x, 0.001);
        a = math.exp(small);
        b = layout.reshape{shape = [4096]}(a);
        sum = math.add(total, a);
        c = math.add(sum, x);
        d = math.sum_reduce{axes = [1], squeeze = true}(a);
    }
    @update { total = c; }
})";

constexpr size_t kOutputs = 4;
constexpr std::array<size_t, kOutputs> kElements = {4096, 4096, 4096, 64};

class Rooms : public testing::Test {
protected:
    Rooms() : model_(kSeveral, options()) {
        EXPECT_EQ(lemma_session_create(model_.model().get(), nullptr, &session_, nullptr), 0);
        std::iota(x_.begin(), x_.end(), -2000.0F);
    }
    ~Rooms() override { lemma_session_free(session_); }

    static LoadOptions options() {
        LoadOptions options;
        options.random_weights = 3;
        options.engine = EngineChoice::Compile;
        return options;
    }

    // Runs with outputs at these addresses; null: in memory of the session. The variable begins
    // anew, so that all runs give the same.
    std::array<std::vector<float>, kOutputs> run(const float* x, std::array<void*, kOutputs> at) {
        EXPECT_EQ(lemma_reset(session_, nullptr), LEMMA_GOOD);
        const int64_t shape[] = {64, 64};
        lemma_tensor input = {
            LEMMA_F32, 2, shape, const_cast<float*>(x), kElements[0] * sizeof(float)};
        std::array<lemma_tensor, kOutputs> outputs = {};
        for (size_t i = 0; i < kOutputs; ++i) {
            outputs[i].data = at[i];
            outputs[i].size = at[i] ? kElements[i] * sizeof(float) : 0;
        }
        lemma_report* report = nullptr;
        const int status =
            lemma_run(session_, &input, 1, outputs.data(), kOutputs, nullptr, &report);
        EXPECT_EQ(status, LEMMA_GOOD) << lemma_report_text(report);
        lemma_report_free(report);
        std::array<std::vector<float>, kOutputs> values;
        for (size_t i = 0; i < kOutputs; ++i) {
            if (at[i]) {
                EXPECT_EQ(outputs[i].data, at[i]);
            }
            values[i].resize(kElements[i]);
            std::memcpy(values[i].data(), outputs[i].data, kElements[i] * sizeof(float));
        }
        return values;
    }

    Loaded model_;
    lemma_session* session_ = nullptr;
    std::vector<float> x_ = std::vector<float>(4096);
};

TEST_F(Rooms, HoldTheSameBitsAsMemoryOfTheSession) {
    const auto want = run(x_.data(), {});
    std::array<std::vector<float>, kOutputs> rooms;
    std::array<void*, kOutputs> at = {};
    for (size_t i = 0; i < kOutputs; ++i) {
        rooms[i].assign(kElements[i], -1.0F);
        at[i] = rooms[i].data();
    }
    for (int time = 0; time < 3; ++time) EXPECT_EQ(run(x_.data(), at), want);
    at[0] = nullptr;
    EXPECT_EQ(run(x_.data(), at), want);
    EXPECT_EQ(run(x_.data(), {}), want);  // no run writes to rooms of an earlier one
}

TEST_F(Rooms, MayBeAtAnyAddress) {
    const auto want = run(x_.data(), {});
    std::vector<std::byte> memory(4 * 4096 * sizeof(float) + 64);
    std::array<void*, kOutputs> at = {};
    for (size_t i = 0; i < kOutputs; ++i) at[i] = memory.data() + 1 + i * 4097 * sizeof(float);
    EXPECT_EQ(run(x_.data(), at), want);
}

TEST_F(Rooms, MayBeTheMemoryOfAnInput) {
    const auto want = run(x_.data(), {});
    std::vector<float> both = x_;
    EXPECT_EQ(run(both.data(), {both.data()})[0], want[0]);
    both = x_;
    EXPECT_EQ(run(both.data(), {nullptr, nullptr, both.data()})[2], want[2]);
}

// Outputs are written in order, as if each was copied after the run.
TEST_F(Rooms, ThatOverlapHoldTheLastOutput) {
    const auto want = run(x_.data(), {});
    std::vector<float> memory(4096);
    const auto got = run(x_.data(), {memory.data(), nullptr, memory.data()});
    EXPECT_EQ(got[2], want[2]);
    EXPECT_EQ(got[1], want[1]);
}

// The variable keeps its value, whatever the caller does with an output of the same value.
TEST_F(Rooms, AreNoMemoryOfVariables) {
    constexpr const char* kCounter = R"(
import math;
graph Counter {
    @input { x: real[64]; }
    @output { y: real[64]; }
    @variable { total: real[64]; }
    @compose { y = math.add(total, x); }
    @update { total = y; }
})";
    Loaded counter(kCounter, options());
    lemma_session* session = nullptr;
    ASSERT_EQ(lemma_session_create(counter.model().get(), nullptr, &session, nullptr), 0);
    const std::vector<float> zeros(64), ones(64, 1.0F);
    const int64_t shape[] = {64};
    const lemma_tensor start = {
        LEMMA_F32, 1, shape, const_cast<float*>(zeros.data()), 64 * sizeof(float)};
    ASSERT_EQ(lemma_set_variable(session, "total", &start, nullptr), LEMMA_GOOD);
    for (int time = 1; time <= 5; ++time) {
        std::vector<float> room(64, -7.0F);
        lemma_tensor input = {
            LEMMA_F32, 1, shape, const_cast<float*>(ones.data()), 64 * sizeof(float)};
        lemma_tensor output = {};
        output.data = room.data();
        output.size = room.size() * sizeof(float);
        ASSERT_EQ(lemma_run(session, &input, 1, &output, 1, nullptr, nullptr), LEMMA_GOOD);
        EXPECT_EQ(room, std::vector<float>(64, static_cast<float>(time)));
        std::fill(room.begin(), room.end(), 1000.0F);
    }
    lemma_session_free(session);
}

TEST_F(Rooms, ThatAreTooSmallAreRefused) {
    std::vector<float> memory(4096, -1.0F);
    const int64_t shape[] = {64, 64};
    lemma_tensor input = {LEMMA_F32, 2, shape, x_.data(), x_.size() * sizeof(float)};
    for (int time = 0; time < 2; ++time) {
        lemma_tensor output = {};
        output.data = memory.data();
        output.size = 4095 * sizeof(float);
        EXPECT_NE(lemma_run(session_, &input, 1, &output, 1, nullptr, nullptr), LEMMA_GOOD);
        EXPECT_EQ(memory[4095], -1.0F);
    }
}

}  // namespace

}  // namespace lemma::api
