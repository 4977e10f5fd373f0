// SPDX-License-Identifier: Apache-2.0
// Sessions of one model in many threads: they share weights and code, and agree with single runs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <lemma/lemma.hpp>
#include <random>
#include <thread>

#include "api/models_test.h"

namespace lemma::api {

namespace {

// A runtime extent, weights, and a variable that counts the runs of its session.
constexpr const char* kMixed = R"(
import nn;
import math;
graph Mixed {
    @input { x: real[n|8, 48]; }
    @output { y: real[n, 32]; runs: real[1]; }
    @variable { w: real[64, 48]; v: real[32, 64]; count: real[1]; }
    @compose {
        a = nn.linear(x, w);
        h = nn.relu(a);
        b = nn.linear(h, v);
        y = nn.softmax{axes = [1]}(b);
        runs = math.add(count, 1.0);
    }
    @update { count = runs; }
})";

// 8 MB of weights, with an activation of a few kilobytes.
constexpr const char* kHeavy = R"(
import nn;
graph Heavy {
    @input { x: real[1, 2048]; }
    @output { y: real[1, 1024]; }
    @variable { w: real[1024, 2048]; }
    @compose { y = nn.linear(x, w); }
})";

LoadOptions with_engine(EngineChoice engine) {
    LoadOptions options;
    options.random_weights = 3;
    options.engine = engine;
    return options;
}

Tensor ramp(int64_t rows, int64_t columns, float scale) {
    std::vector<float> values(static_cast<size_t>(rows * columns));
    for (size_t i = 0; i < values.size(); ++i) values[i] = scale * static_cast<float>(i % 23) - 1;
    return Tensor::of<float>({rows, columns}, values);
}

class Sharing : public testing::TestWithParam<EngineChoice> {
protected:
    Model load(const char* text) const {
        const TempFolder folder("sharing");
        LoadResult result = Model::load(folder.write(text), with_engine(GetParam()));
        EXPECT_TRUE(result.ok()) << result.text();
        EXPECT_EQ(result.model->engine(), GetParam());
        return *result.model;
    }
};

// ---- Numbers ------------------------------------------------------------------------------------

// One of the threads: sessions come and go, extents change, each counts its own runs.
void work(const Model& model,
          const std::vector<Tensor>& inputs,
          const std::vector<Tensor>& wanted,
          unsigned seed,
          std::atomic<int>& wrong) {
    std::mt19937 random(seed);
    for (int round = 0; round < 4; ++round) {
        SessionResult made = model.session({1 + static_cast<int>(random() % 2), 0});
        if (!made.ok()) {
            ++wrong;
            continue;
        }
        made.session->set_variable("count", Tensor::of<float>({1}, {0}));
        float runs = 0;
        for (int time = 0; time < 6; ++time) {
            const size_t which = random() % inputs.size();
            const RunResult result = made.session->run({{"x", inputs[which]}});
            const bool good = result.ok() && result.outputs.at("y").bytes == wanted[which].bytes &&
                              result.outputs.at("runs").values<float>() == std::vector{++runs};
            wrong += good ? 0 : 1;
        }
    }
}

TEST_P(Sharing, ManySessionsAgreeWithASingleOne) {
    const Model model = load(kMixed);
    std::vector<Tensor> inputs, wanted;
    for (const int64_t rows : {1, 3, 8}) {
        inputs.push_back(ramp(rows, 48, 0.1F * static_cast<float>(rows)));
        const Model alone = load(kMixed);
        SessionResult single = alone.session();
        const RunResult result = single.session->run({{"x", inputs.back()}});
        ASSERT_TRUE(result.ok()) << result.text();
        wanted.push_back(result.outputs.at("y"));
    }
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 6; ++i) {
        threads.emplace_back([&, i] { work(model, inputs, wanted, i, wrong); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

// A session with weights of its own does not disturb the others.
TEST_P(Sharing, WeightsOfASessionAreItsOwn) {
    const Model model = load(kMixed);
    SessionResult first = model.session(), second = model.session();
    const Tensor x = ramp(2, 48, 0.2F);
    const RunResult before = first.session->run({{"x", x}});
    ASSERT_TRUE(before.ok()) << before.text();
    Tensor w = *second.session->variable("w");
    EXPECT_EQ(w.bytes, first.session->variable("w")->bytes);
    w = Tensor::of<float>(w.shape, std::vector<float>(w.bytes.size() / sizeof(float), 0.25F));
    ASSERT_TRUE(second.session->set_variable("w", w).ok());
    const RunResult other = second.session->run({{"x", x}});
    ASSERT_TRUE(other.ok()) << other.text();
    EXPECT_NE(other.outputs.at("y").bytes, before.outputs.at("y").bytes);
    EXPECT_EQ(first.session->run({{"x", x}}).outputs.at("y").bytes, before.outputs.at("y").bytes);
    ASSERT_TRUE(second.session->reset().ok());
    EXPECT_EQ(second.session->run({{"x", x}}).outputs.at("y").bytes, before.outputs.at("y").bytes);
}

// The first run of a session may use the code that another session has made, but not its weights.
TEST_P(Sharing, ASessionWithItsOwnWeightsMakesItsOwnCode) {
    const Model model = load(kHeavy);
    SessionResult first = model.session(), second = model.session(), third = model.session();
    const Tensor x = ramp(1, 2048, 0.01F);
    const RunResult before = first.session->run({{"x", x}});
    ASSERT_TRUE(before.ok()) << before.text();
    const std::vector<float> zeros(1024 * 2048, 0.0F);
    ASSERT_TRUE(second.session->set_variable("w", Tensor::of<float>({1024, 2048}, zeros)).ok());
    const RunResult other = second.session->run({{"x", x}});
    ASSERT_TRUE(other.ok()) << other.text();
    EXPECT_EQ(other.outputs.at("y").values<float>(), std::vector<float>(1024, 0.0F));
    EXPECT_EQ(third.session->run({{"x", x}}).outputs.at("y").bytes, before.outputs.at("y").bytes);
}

TEST_P(Sharing, SessionsMayBeginAtTheSameTime) {
    const Model alone = load(kHeavy);
    const Tensor x = ramp(1, 2048, 0.01F);
    const RunResult wanted = alone.session().session->run({{"x", x}});
    ASSERT_TRUE(wanted.ok()) << wanted.text();
    const Model model = load(kHeavy);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            SessionResult made = model.session();
            const RunResult result = made.session->run({{"x", x}});
            const bool good =
                result.ok() && result.outputs.at("y").bytes == wanted.outputs.at("y").bytes;
            wrong += good ? 0 : 1;
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

// ---- Memory -------------------------------------------------------------------------------------

int64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    int64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

TEST_P(Sharing, SessionsShareWeights) {
    const Model model = load(kHeavy);
    const Tensor x = ramp(1, 2048, 0.01F);
    std::vector<Session> sessions;
    const auto run_one_more = [&] {
        SessionResult made = model.session();
        ASSERT_TRUE(made.ok()) << made.text();
        sessions.push_back(std::move(*made.session));
        const RunResult result = sessions.back().run({{"x", x}});
        ASSERT_TRUE(result.ok()) << result.text();
    };
    run_one_more();
    const int64_t before = resident_bytes();
    for (int i = 1; i < 16; ++i) run_one_more();
    EXPECT_LT(resident_bytes() - before, int64_t{24} << 20);
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         Sharing,
                         testing::Values(EngineChoice::Interpret, EngineChoice::Compile),
                         [](const auto& given) {
                             return given.param == EngineChoice::Compile ? "Compiled"
                                                                         : "Interpreted";
                         });

}  // namespace

}  // namespace lemma::api
