// SPDX-License-Identifier: Apache-2.0
// Results do not depend on the number of threads, also with more threads than processors, and with
// kernels that run at the same time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <thread>

#include "engine/engine.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using engine::Engine;
using interpret::NamedArrays;
using testing_support::load_text;
using testing_support::random_inputs;
using testing_support::run_interpreter;

// Four branches from one tensor, joined along the channels; a sum of two branches; a row kernel on
// small numbers, because exponentials of large ones magnify rounding errors.
std::string branches(int channels, int extent) {
    return fmt::format(R"(import nn; import math; import layout;
graph G {{
    @input {{ x: real[1, {0}, {1}, {1}]; }}
    @output {{ y: real[1, {2}, {1}, {1}]; z: real[1, {0}, {1}, {1}]; }}
    @variable {{
        a: real[{0}, {0}, 1, 1]; b: real[{0}, {0}, 3, 3]; c: real[{0}, {0}, 5, 5];
        d: real[{0}, {0}, 1, 1];
    }}
    @compose {{
        p = nn.conv(x, a);
        o = nn.relu(p);
        q = nn.conv{{padding = [1, 1, 1, 1]}}(o, b);
        r = nn.conv{{padding = [2, 2, 2, 2]}}(x, c);
        m = nn.max_pool{{size = [3, 3], padding = [1, 1, 1, 1], stride = [1, 1]}}(x);
        s = nn.conv(m, d);
        y = layout.concat{{axis = 1}}([p, q, r, s]);
        t = math.add(q, r);
        u = math.mul(t, 0.01);
        z = nn.softmax{{axes = [1]}}(u);
    }}
}})",
                       channels,
                       extent,
                       4 * channels);
}

std::vector<uint64_t> bits_of(const NamedArrays& arrays) {
    std::vector<uint64_t> bits;
    for (const auto& [name, items] : arrays) {
        for (const double value : items[0].reals) bits.push_back(std::bit_cast<uint64_t>(value));
    }
    return bits;
}

std::vector<uint64_t> run(const std::string& text, const NamedArrays& inputs, int threads) {
    const auto state = load_text(text);
    auto engine =
        Engine::create(*state, {.verify = true, .threads = threads, .processors = threads});
    EXPECT_TRUE(engine);
    std::vector<uint64_t> first;
    // The first runs measure the kernels one by one.
    for (int i = 0; i < 8; ++i) {
        const auto outputs = (*engine)->run(inputs);
        EXPECT_TRUE(outputs) << outputs.error().message;
        if (!outputs) return {};
        if (i == 0) first = bits_of(*outputs);
        EXPECT_EQ(bits_of(*outputs), first) << "run " << i << " with " << threads << " threads";
    }
    return first;
}

TEST(EngineThreads, DoNotChangeResults) {
    for (const auto& [channels, extent] : {std::pair{4, 9}, {20, 14}}) {
        const std::string text = branches(channels, extent);
        SCOPED_TRACE(text);
        const auto state = load_text(text);
        ASSERT_TRUE(state);
        const NamedArrays inputs = random_inputs(state->program());
        const auto wanted = run_interpreter(*load_text(text), inputs);
        ASSERT_TRUE(wanted) << wanted.error().message;
        const std::vector<uint64_t> alone = run(text, inputs, 1);
        const std::vector<uint64_t> oracle = bits_of(*wanted);
        ASSERT_EQ(alone.size(), oracle.size());
        for (size_t i = 0; i < oracle.size(); ++i) {
            const double one = std::bit_cast<double>(oracle[i]);
            ASSERT_NEAR(std::bit_cast<double>(alone[i]), one, 2e-5 * (1 + std::abs(one))) << i;
        }
        for (const int threads : {2, 3, 4, 16}) EXPECT_EQ(run(text, inputs, threads), alone);
    }
}

TEST(EngineThreads, RunBranchesAsOneWave) {
    const auto state = load_text(branches(8, 12));
    ASSERT_TRUE(state);
    auto engine = Engine::create(*state, {.verify = true, .threads = 2});
    ASSERT_TRUE(engine);
    ASSERT_TRUE((*engine)->prepare(random_inputs(state->program())));
    const loop::Plan& plan = (*engine)->plan();
    EXPECT_GE(plan.waves, 1U);
    // The steps of a wave are neighbours.
    std::vector<uint32_t> seen;
    for (const size_t number : plan.regions[0]) {
        const uint32_t wave = plan.steps[number].wave;
        if (wave == 0 || (!seen.empty() && seen.back() == wave)) continue;
        EXPECT_EQ(std::ranges::find(seen, wave), seen.end());
        seen.push_back(wave);
    }
}

// The time of a product with one vector is that of reading the weights. All threads read a part.
TEST(EngineThreads, ShareAProductWithOneVector) {
    const std::string text = R"(import linalg;
graph G {
    @input { x: real[1, 4096]; }
    @output { y: real[1, 512]; }
    @variable { w: real[4096, 512]; }
    @compose { y = linalg.matmul(x, w); }
})";
    const auto state = load_text(text);
    ASSERT_TRUE(state);
    const NamedArrays inputs = random_inputs(state->program());
    auto engine = Engine::create(*state, {.verify = true});
    ASSERT_TRUE(engine);
    ASSERT_TRUE((*engine)->prepare(inputs));
    int64_t items = 0;
    for (const loop::PlanStep& step : (*engine)->plan().steps) {
        if (!step.once && step.kernel()) items = std::max(items, step.kernel()->function.items);
    }
    EXPECT_GE(items, 16);
    const std::vector<uint64_t> alone = run(text, inputs, 1);
    for (const int threads : {2, 5, 16}) EXPECT_EQ(run(text, inputs, threads), alone);
}

// A chain has no two kernels that may run at the same time.
TEST(EngineThreads, KeepTheOrderOfAChain) {
    const auto state = load_text(R"(import nn;
graph G {
    @input { x: real[1, 8, 12, 12]; }
    @output { y: real[1, 8, 12, 12]; }
    @variable { a: real[8, 8, 3, 3]; b: real[8, 8, 3, 3]; c: real[8, 8, 3, 3]; }
    @compose {
        p = nn.conv{padding = [1, 1, 1, 1]}(x, a);
        q = nn.conv{padding = [1, 1, 1, 1]}(p, b);
        y = nn.conv{padding = [1, 1, 1, 1]}(q, c);
    }
})");
    ASSERT_TRUE(state);
    auto engine = Engine::create(*state, {.verify = true, .threads = 2});
    ASSERT_TRUE(engine);
    ASSERT_TRUE((*engine)->prepare(random_inputs(state->program())));
    EXPECT_EQ((*engine)->plan().waves, 0U);
}

// Engines of several callers, with many threads each.
TEST(EngineThreads, WorkBesideOtherEngines) {
    const std::string text = branches(6, 10);
    const auto state = load_text(text);
    ASSERT_TRUE(state);
    const NamedArrays inputs = random_inputs(state->program());
    const std::vector<uint64_t> alone = run(text, inputs, 1);
    std::vector<std::vector<uint64_t>> results(3);
    std::vector<std::thread> callers;
    for (auto& result : results) callers.emplace_back([&] { result = run(text, inputs, 8); });
    for (std::thread& caller : callers) caller.join();
    for (const auto& result : results) EXPECT_EQ(result, alone);
}

}  // namespace
}  // namespace lemma
