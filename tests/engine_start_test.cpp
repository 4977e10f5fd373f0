// SPDX-License-Identifier: Apache-2.0
// How compiled models start: kernels that share code, and plans in the object cache.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/engine.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

namespace fs = std::filesystem;
using engine::Engine;
using engine::EngineOptions;
using interpret::NamedArrays;
using testing_support::load_text;
using testing_support::random_inputs;
using testing_support::run_interpreter;

// Convolutions of different sizes, whose weights are packed.
constexpr const char* kSizes = R"(import nn; import math;
graph G {
    @input { x: real[1, 8, 12, 12]; }
    @output { y: real[1, 32, 12, 12]; }
    @variable { a: real[16, 8, 1, 1]; b: real[32, 16, 1, 1]; c: real[48, 32, 1, 1];
                d: real[64, 48, 1, 1]; e: real[32, 64, 1, 1]; }
    @compose {
        p = nn.conv{padding = [0, 0, 0, 0]}(x, a);
        q = nn.conv{padding = [0, 0, 0, 0]}(p, b);
        r = nn.conv{padding = [0, 0, 0, 0]}(q, c);
        s = nn.conv{padding = [0, 0, 0, 0]}(r, d);
        y = nn.conv{padding = [0, 0, 0, 0]}(s, e);
    }
})";

constexpr const char* kRelu = R"(import nn;
graph G { @input { x: real[100, 30]; } @output { y: real[100, 30]; }
          @compose { y = nn.relu(x); } })";
constexpr const char* kTanh = R"(import math;
graph G { @input { x: real[100, 30]; } @output { y: real[100, 30]; }
          @compose { y = math.tanh(x); } })";

// A sum on transformed tiles.
constexpr const char* kWindow = R"(import nn;
graph G {
    @input { x: real[1, 64, 14, 14]; }
    @output { y: real[1, 64, 14, 14]; }
    @variable { w: real[64, 64, 3, 3]; }
    @compose { y = nn.conv{padding = [1, 1, 1, 1]}(x, w); }
})";

// A loop with carried values.
constexpr const char* kLoop = R"(import math;
graph G {
    @input { x: real[5, 7]; }
    @output { y: real[5, 7]; }
    @compose {
        y = with s = x do..(4) {
            h = math.mul(s, 0.5);
            t = math.add(h, x);
            yield t;
        };
    }
})";

constexpr const char* kModels[] = {kSizes, kRelu, kTanh};

struct Ran {
    NamedArrays outputs;
    codegen::CompilerStats stats;
};

std::optional<Ran> run(const char* text, const EngineOptions& options) {
    const auto state = load_text(text);
    if (!state) return std::nullopt;
    auto engine = Engine::create(*state, options);
    EXPECT_TRUE(engine) << engine.error().message;
    if (!engine) return std::nullopt;
    auto outputs = (*engine)->run(random_inputs(state->program()));
    EXPECT_TRUE(outputs) << outputs.error().message;
    if (!outputs) return std::nullopt;
    return Ran{std::move(*outputs), (*engine)->compiler_stats()};
}

void expect_same(const NamedArrays& got, const NamedArrays& want) {
    for (const auto& [name, items] : want) {
        ASSERT_EQ(got.at(name).size(), items.size());
        for (size_t k = 0; k < items.size(); ++k) EXPECT_EQ(got.at(name)[k].reals, items[k].reals);
    }
}

class EngineStart : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("lemma-start-" + std::to_string(::getpid()));
        fs::remove_all(folder_);
    }
    void TearDown() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    EngineOptions options(int64_t most_bytes = int64_t{64} << 20) const {
        return {.threads = 2,
                .compiler = {.cache_folder = folder_.string(), .cache_bytes = most_bytes}};
    }
    EngineOptions with_threads(int threads) const {
        EngineOptions result = options();
        result.threads = threads;
        return result;
    }
    // The largest file, which has a plan with its kernels.
    fs::path largest() const {
        fs::path found;
        for (const auto& entry : fs::directory_iterator(folder_)) {
            if (found.empty() || entry.file_size() > fs::file_size(found)) found = entry.path();
        }
        return found;
    }

    fs::path folder_;
};

TEST_F(EngineStart, KernelsOfOneClassShareCode) {
    const auto ran = run(kSizes, {.verify = true});
    ASSERT_TRUE(ran);
    EXPECT_GE(ran->stats.reused, 3U);  // packing of weights
    const auto state = load_text(kSizes);
    const auto want = run_interpreter(*state, random_inputs(state->program()));
    ASSERT_TRUE(want);
    for (const auto& [name, items] : *want) {
        for (size_t i = 0; i < items[0].reals.size(); ++i) {
            const double value = items[0].reals[i];
            ASSERT_NEAR(ran->outputs.at(name)[0].reals[i], value, 1e-5 * std::abs(value) + 1e-5);
        }
    }
}

TEST_F(EngineStart, PlansAreFoundAgain) {
    for (const char* const model : kModels) {
        const auto first = run(model, options());
        const auto second = run(model, options());
        ASSERT_TRUE(first && second);
        EXPECT_EQ(first->stats.plans, 0U);
        EXPECT_GT(first->stats.kernels, 0U);
        EXPECT_EQ(second->stats.plans, 1U);
        EXPECT_EQ(second->stats.kernels, 0U);
        EXPECT_EQ(second->stats.cached, first->stats.kernels + first->stats.cached);
        EXPECT_EQ(second->stats.reused, first->stats.reused);
        expect_same(second->outputs, first->outputs);
    }
}

TEST_F(EngineStart, PlansWithControlFlowAreFoundAgain) {
    const auto first = run(kLoop, options());
    const auto second = run(kLoop, options());
    ASSERT_TRUE(first && second);
    EXPECT_EQ(second->stats.plans, 1U);
    expect_same(second->outputs, first->outputs);
}

TEST_F(EngineStart, OtherOptionsHaveOtherPlans) {
    ASSERT_TRUE(run(kSizes, options()));
    EngineOptions apart = options();
    apart.fuse = false;
    const auto other = run(kSizes, apart);
    ASSERT_TRUE(other);
    EXPECT_EQ(other->stats.plans, 0U);
    EngineOptions strict = options();
    strict.compiler.numerics = loop::Numerics::Strict;
    const auto exact = run(kSizes, strict);
    ASSERT_TRUE(exact);
    EXPECT_EQ(exact->stats.plans, 0U);
}

// One thread makes the plan, and others find it.
TEST_F(EngineStart, PlansServeAnyNumberOfThreads) {
    for (const char* const model : {kSizes, kRelu, kLoop, kWindow}) {
        const auto first = run(model, with_threads(1));
        ASSERT_TRUE(first);
        EXPECT_EQ(first->stats.plans, 0U);
        for (const int threads : {2, 3, 8}) {
            const auto other = run(model, with_threads(threads));
            ASSERT_TRUE(other);
            EXPECT_EQ(other->stats.plans, 1U) << threads;
            EXPECT_EQ(other->stats.kernels, 0U) << threads;
            expect_same(other->outputs, first->outputs);
        }
    }
}

// Engines with different numbers of threads share code, also of sums over windows, whose items
// depend on the threads.
TEST_F(EngineStart, EnginesShareCodeForAnyNumberOfThreads) {
    const auto state = load_text(kWindow);
    ASSERT_TRUE(state);
    state->reset_variables();  // engines share code if the weights are those of the program
    const auto weights = [](const ir::Tensor& wanted) -> Result<std::optional<tensor::Tensor>> {
        LEMMA_TRY(auto values, tensor::Tensor::zeros(wanted.dtype, {64, 64, 3, 3}));
        for (int64_t i = 0; i < values.size(); ++i) values.set_real(i, 0.25);
        return values;
    };
    auto shared = engine::SharedCode::create({});
    ASSERT_TRUE(shared) << shared.error().message;
    const NamedArrays inputs = random_inputs(state->program());
    std::vector<std::unique_ptr<Engine>> engines;
    NamedArrays want;
    for (const int threads : {1, 8, 3, 1}) {
        auto engine = Engine::create(*state, {.threads = threads, .weights = weights}, *shared);
        ASSERT_TRUE(engine) << engine.error().message;
        const auto outputs = (*engine)->run(inputs);
        ASSERT_TRUE(outputs) << outputs.error().message;
        if (want.empty()) want = *outputs;
        expect_same(*outputs, want);
        engines.push_back(std::move(*engine));
        EXPECT_EQ(&engines.back()->plan(), &engines[0]->plan());
    }
    bool found = false;
    for (const loop::PlanStep& step : engines[0]->plan().steps) {
        if (!step.kernel() || !step.kernel()->windows) continue;
        found = true;
        EXPECT_LT(loop::cut_items(*step.kernel()->windows, 1).items, 7);
        EXPECT_GE(loop::cut_items(*step.kernel()->windows, 8).items, 7);
    }
    EXPECT_TRUE(found);
}

TEST_F(EngineStart, DamagedPlansAreMadeAgain) {
    const auto first = run(kSizes, options());
    ASSERT_TRUE(first);
    const auto size = static_cast<int64_t>(fs::file_size(largest()));
    for (const int64_t at : {int64_t{0}, int64_t{20}, int64_t{40}, size / 2, size - 1}) {
        {
            std::fstream file(largest(), std::ios::in | std::ios::out | std::ios::binary);
            file.seekg(at);
            const int byte = file.get();
            file.seekp(at);
            file.put(static_cast<char>(byte ^ 0x55));
        }
        const auto second = run(kSizes, options());
        ASSERT_TRUE(second);
        EXPECT_EQ(second->stats.plans, 0U) << at;
        expect_same(second->outputs, first->outputs);
    }
    fs::resize_file(largest(), static_cast<uintmax_t>(size / 3));
    const auto shorter = run(kSizes, options());
    ASSERT_TRUE(shorter);
    EXPECT_EQ(shorter->stats.plans, 0U);
    const auto last = run(kSizes, options());
    ASSERT_TRUE(last);
    EXPECT_EQ(last->stats.plans, 1U);
}

TEST_F(EngineStart, ManyStartAtOnce) {
    const auto want = run(kSizes, {});
    ASSERT_TRUE(want);
    std::vector<std::optional<Ran>> ran(4);
    std::vector<std::thread> threads;
    for (std::optional<Ran>& one : ran) {
        threads.emplace_back([&] { one = run(kSizes, options()); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::optional<Ran>& one : ran) {
        ASSERT_TRUE(one);
        expect_same(one->outputs, want->outputs);
    }
}

TEST_F(EngineStart, AFullCacheForgetsOldPlans) {
    ASSERT_TRUE(run(kSizes, options()));
    const auto size = static_cast<int64_t>(fs::file_size(largest()));
    fs::remove_all(folder_);
    // Not even one plan fits.
    ASSERT_TRUE(run(kSizes, options(size / 2)));
    const auto again = run(kSizes, options(size / 2));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->stats.plans, 0U);
    int64_t all = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
        all += static_cast<int64_t>(entry.file_size());
    }
    EXPECT_LE(all, size / 2);
}

}  // namespace
}  // namespace lemma
