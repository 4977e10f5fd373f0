// SPDX-License-Identifier: Apache-2.0
// Cancellation, time limits and progress.
#include <gtest/gtest.h>

#include <chrono>
#include <lemma/lemma.hpp>
#include <set>
#include <thread>

#include "api/models_test.h"

namespace lemma::api {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Interpreted, one row takes milliseconds and all rows take many seconds.
constexpr const char* kLong = R"(
import nn; import math;
graph Long {
    @input { x: real[n|4096, 512]; }
    @output { y: real[n, 512]; runs: real[1]; }
    @variable { w: real[512, 512]; count: real[1]; }
    @compose { y = nn.linear(x, w); runs = math.add(count, 1.0); }
    @update { count = runs; }
})";

// Compiled, each iteration is a few steps, and there are very many.
constexpr const char* kLoop = R"(
import math;
graph Loop {
    @input { x: real[20]; n: int[]; }
    @output { y: real[20]; }
    @compose {
        y = with s = x do..(n) {
            t = math.mul(s, 0.5);
            u = math.add(t, 1.0);
            yield u;
        };
    }
})";

LoadOptions random_weights(EngineChoice engine) {
    LoadOptions options;
    options.random_weights = 1;
    options.engine = engine;
    return options;
}

Tensor rows(int64_t count) {
    return Tensor::of({count, 512}, std::vector<float>(static_cast<size_t>(count * 512), 0.5F));
}

testing::AssertionResult stopped(const Outcome& outcome, const std::string& part) {
    if (outcome.status == Status::Stopped && contains(outcome.text(), part))
        return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "status " << static_cast<int>(outcome.status) << ": " << outcome.text();
}

// Far less than the whole run; a loaded machine may take its time.
constexpr double kSoon = 1.5;

TEST(Control, TimeLimitStopsALongOperation) {
    Loaded model(kLong, random_weights(EngineChoice::Interpret));
    model->set_variable("count", Tensor::of<float>({1}, {0}));
    Control control;
    control.seconds = 0.05;
    const auto begin = Clock::now();
    EXPECT_TRUE(stopped(model->run({{"x", rows(4096)}}, control), "time limit of 0.05 s is over"));
    EXPECT_LT(seconds_since(begin), kSoon);
    // The variables are as before, and the next run is not limited.
    const RunResult next = model->run({{"x", rows(1)}});
    ASSERT_TRUE(next.ok()) << next.text();
    EXPECT_EQ(next.outputs.at("runs").values<float>(), std::vector<float>{1});
}

TEST(Control, AnotherThreadStopsARun) {
    Loaded model(kLong, random_weights(EngineChoice::Interpret));
    Control control;
    control.stop = Stop();
    const auto begin = Clock::now();
    std::thread other([stop = *control.stop]() mutable {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        stop.now();
    });
    EXPECT_TRUE(stopped(model->run({{"x", rows(4096)}}, control), "cancelled"));
    EXPECT_LT(seconds_since(begin), kSoon);
    other.join();
    EXPECT_TRUE(control.stop->requested());
    EXPECT_TRUE(stopped(model->run({{"x", rows(1)}}, control), "cancelled"));
    control.stop->reset();
    EXPECT_TRUE(model->run({{"x", rows(1)}}, control).ok());
}

TEST(Control, LoopsOfBothEnginesStop) {
    const Tensor x = Tensor::of({20}, std::vector<float>(20, 1.0F));
    const Tensor many = Tensor::scalar<int64_t>(int64_t{1} << 40);
    for (const EngineChoice engine : {EngineChoice::Interpret, EngineChoice::Compile}) {
        Loaded model(kLoop, random_weights(engine));
        ASSERT_TRUE(model->run({{"x", x}, {"n", Tensor::scalar<int64_t>(3)}}).ok());
        for (int time = 0; time < 2; ++time) {
            Control control;
            control.seconds = 0.05;
            const auto begin = Clock::now();
            EXPECT_TRUE(stopped(model->run({{"x", x}, {"n", many}}, control), "time limit"));
            EXPECT_LT(seconds_since(begin), kSoon);
            const RunResult next = model->run({{"x", x}, {"n", Tensor::scalar<int64_t>(1)}});
            ASSERT_TRUE(next.ok()) << next.text();
            EXPECT_EQ(next.outputs.at("y").values<float>()[0], 1.5F);
        }
        EXPECT_EQ(model->engine(), engine);
    }
}

TEST(Control, LoadingReportsAndStops) {
    const TempFolder folder("load_control");
    const std::string path = folder.write(kLong);
    std::vector<std::uint64_t> seen;
    LoadOptions options = random_weights(EngineChoice::Interpret);
    options.control.progress = [&](const char* stage, std::uint64_t done, std::uint64_t total) {
        EXPECT_STREQ(stage, "load");
        EXPECT_LE(done, total);
        seen.push_back(done);
        return true;
    };
    EXPECT_TRUE(Model::load(path, options).ok());
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 1, 2}));
    options.control.progress = [](const char*, std::uint64_t done, std::uint64_t) {
        return done < 1;
    };
    const LoadResult result = Model::load(path, options);
    EXPECT_TRUE(stopped(result, "by its progress function"));
    EXPECT_FALSE(result.model);
    options.control.progress = [](const char*, std::uint64_t, std::uint64_t) {
        return std::vector<bool>().at(0);  // an exception
    };
    EXPECT_TRUE(stopped(Model::load(path, options), "by its progress function"));
    options.control.progress = nullptr;
    options.control.seconds = -1;
    EXPECT_TRUE(refused(Model::load(path, options), "must not be negative"));
}

TEST(Control, CompilingReportsAndStops) {
    LoadOptions options = random_weights(EngineChoice::Compile);
    options.cache = "";
    Loaded model(kLong, options);
    std::vector<TensorView> inputs(1);
    inputs[0].shape = {2, 512};
    Control control;
    std::set<std::string> stages;
    control.progress = [&](const char* stage, std::uint64_t, std::uint64_t total) {
        stages.insert(stage);
        return total == 0;
    };
    EXPECT_TRUE(stopped(model->prepare(inputs, control), "by its progress function"));
    EXPECT_EQ(stages, (std::set<std::string>{"compile"}));
    std::vector<std::uint64_t> totals;
    control.progress = [&](const char*, std::uint64_t, std::uint64_t total) {
        totals.push_back(total);
        return true;
    };
    EXPECT_TRUE(model->prepare(inputs, control).ok());
    ASSERT_FALSE(totals.empty());
    EXPECT_LE(totals.size(), totals[0]);  // this thread reports before each of its kernels
    totals.clear();
    const RunResult result = model->run({{"x", rows(2)}}, control);
    EXPECT_TRUE(result.ok()) << result.text();
    EXPECT_TRUE(totals.empty());  // nothing was left to compile
    EXPECT_EQ(result.outputs.at("y").shape, (Shape{2, 512}));
}

TEST(Control, PreparingChecksTheInputs) {
    for (const EngineChoice engine : {EngineChoice::Interpret, EngineChoice::Compile}) {
        Loaded model(kLong, random_weights(engine));
        std::vector<TensorView> inputs(1);
        inputs[0].shape = {2, 511};
        EXPECT_TRUE(refused(model->prepare(inputs), "axis 1"));
        inputs[0].shape = {-2, 512};
        EXPECT_FALSE(model->prepare(inputs).ok());
        inputs[0].type = static_cast<DataType>(77);
        EXPECT_TRUE(refused(model->prepare(inputs), "type 77"));
        EXPECT_TRUE(refused(model->prepare({}), "0 inputs are given"));
        EXPECT_TRUE(model->run({{"x", rows(1)}}).ok());
    }
}

}  // namespace

}  // namespace lemma::api
