// SPDX-License-Identifier: Apache-2.0
// The effects of options of compiled code: processor, numerics, cache, and reports.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include "codegen/compiler.h"
#include "driver/bench/peak.h"
#include "engine/engine.h"
#include "loop/passes/pipeline.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

namespace fs = std::filesystem;
using engine::Engine;
using engine::EngineOptions;
using interpret::NamedArrays;
using loop::Numerics;
using testing_support::load_text;
using testing_support::random_inputs;
using testing_support::run_interpreter;

constexpr const char* kConvolution = R"(import nn; import math;
graph G {
    @input { x: real[1, 5, 13, 11]; }
    @output { y: real[1, 21, 13, 11]; z: real[1, 21, 13, 11]; }
    @variable { w: real[21, 5, 3, 3]; b: real[21]; m: real[21]; v: real[21]; s: real[21]; o: real[21]; }
    @compose {
        c = nn.conv{padding = [1, 1, 1, 1]}(x, w, b);
        n = nn.batch_norm{epsilon = 0.001}(c, m, v, o, s);
        y = nn.relu(n);
        z = nn.max_pool{axes = [2, 3], size = [3, 3], stride = [1, 1], padding = [1, 1, 1, 1]}(y);
    }
})";

constexpr const char* kAttention = R"(import nn; import math; import linalg;
graph G {
    @input { a: real[9, 37]; k: real[37, 21]; }
    @output { y: real[9, 21]; t: real[9, 21]; u: real[9, 21]; l: real[9]; }
    @compose {
        p = linalg.matmul(a, k);
        y = nn.softmax{axes = [-1]}(p);
        t = math.tanh(y);
        q = math.abs(p);
        u = math.pow(q, 2.0);
        l = math.sum_reduce{axes = [1], squeeze = true}(p);
    }
})";

// Long sums, means, roots and quotients.
constexpr const char* kNormalisation = R"(import nn; import math; import layout;
graph G {
    @input { x: real[3, 5000]; }
    @output { y: real[3, 5000]; m: real[3, 1]; }
    @compose {
        m = math.mean_reduce{axes = [1]}(x);
        d = math.sub(x, m);
        q = math.mul(d, d);
        v = math.mean_reduce{axes = [1]}(q);
        e = math.add(v, 0.001);
        r = math.sqrt(e);
        y = math.div(d, r);
    }
})";

constexpr const char* kModels[] = {kConvolution, kAttention, kNormalisation};

struct Ran {
    NamedArrays outputs;
    size_t steps = 0, interpreted = 0;
    codegen::CompilerStats stats;
    std::string dumped;
};

std::optional<Ran> run(const char* text, EngineOptions options) {
    options.verify = true;
    const auto state = load_text(text);
    if (!state) return std::nullopt;
    auto engine = Engine::create(*state, std::move(options));
    EXPECT_TRUE(engine) << engine.error().message;
    if (!engine) return std::nullopt;
    auto outputs = (*engine)->run(random_inputs(state->program()));
    EXPECT_TRUE(outputs) << outputs.error().message;
    if (!outputs) return std::nullopt;
    Ran ran{std::move(*outputs), 0, 0, (*engine)->compiler_stats(), (*engine)->dumped()};
    for (const loop::PlanStep& step : (*engine)->plan().steps) {
        ++ran.steps;
        ran.interpreted += step.is<loop::InterpretedStep>();
    }
    return ran;
}

NamedArrays oracle(const char* text) {
    const auto state = load_text(text);
    const auto outputs = run_interpreter(*state, random_inputs(state->program()));
    EXPECT_TRUE(outputs);
    return outputs ? *outputs : NamedArrays();
}

// The targets that this processor supports.
std::vector<std::string> targets() {
    std::vector<std::string> result;
    for (const char* name : {"avx512", "avx2", "sse2"}) {
        if (codegen::Compiler::create({.target = name})) result.emplace_back(name);
    }
    return result;
}

void expect_equal(const NamedArrays& got, const NamedArrays& want) {
    for (const auto& [name, items] : want) {
        for (size_t k = 0; k < items.size(); ++k) {
            ASSERT_EQ(got.at(name)[k].shape, items[k].shape);
            EXPECT_EQ(got.at(name)[k].integers, items[k].integers) << name;
            for (size_t i = 0; i < items[k].reals.size(); ++i) {
                ASSERT_EQ(got.at(name)[k].reals[i], items[k].reals[i]) << name << "[" << i << "]";
            }
        }
    }
}

void expect_near(const NamedArrays& got, const NamedArrays& want, double tolerance) {
    for (const auto& [name, items] : want) {
        for (size_t k = 0; k < items.size(); ++k) {
            double largest = 1;
            for (const double value : items[k].reals)
                largest = std::fmax(largest, std::fabs(value));
            for (size_t i = 0; i < items[k].reals.size(); ++i) {
                ASSERT_NEAR(got.at(name)[k].reals[i], items[k].reals[i], tolerance * largest)
                    << name << "[" << i << "]";
            }
        }
    }
}

// ---- Targets ------------------------------------------------------------------------------------

TEST(EngineModes, EveryTargetComputesTheSame) {
    ASSERT_FALSE(targets().empty());
    for (const std::string& target : targets()) {
        SCOPED_TRACE(target);
        for (const char* const model : kModels) {
            const auto ran = run(model, {.threads = 2, .compiler = {.target = target}});
            ASSERT_TRUE(ran);
            EXPECT_EQ(ran->interpreted, 0U);
            expect_near(ran->outputs, oracle(model), 1e-5);
        }
    }
}

// Rows that fit a vector are added in pairs, whatever its width.
TEST(EngineModes, ShortRowsHaveOneSum) {
    constexpr const char* kRows = R"(
import math;
graph Rows {
    @input { x: real[50, 4]; }
    @output { y: real[50, 1]; }
    @compose { y = math.sum_reduce{axes = [1]}(x); }
})";
    const auto state = load_text(kRows);
    const auto inputs = random_inputs(state->program());
    const interpret::Array& x = inputs.at("x")[0];
    const auto at = [&](size_t i) { return static_cast<float>(x.reals[i]); };
    for (const std::string& target : targets()) {
        SCOPED_TRACE(target);
        const auto ran = run(kRows, {.compiler = {.target = target}});
        ASSERT_TRUE(ran);
        EXPECT_EQ(ran->interpreted, 0U);
        const interpret::Array& y = ran->outputs.at("y")[0];
        for (size_t row = 0; row < 50; ++row) {
            const float first = at(4 * row) + at(4 * row + 1);
            const float second = at(4 * row + 2) + at(4 * row + 3);
            EXPECT_EQ(static_cast<float>(y.reals[row]), first + second) << row;
        }
    }
}

TEST(EngineModes, RefusesTargetsThatAreNotThere) {
    const auto none = codegen::Compiler::create({.target = "avx1024"});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message,
              "there is no target `avx1024`: they are `avx512`, `avx2`, `sse2` and `aarch64`");
}

// The code cannot run here, but it must exist: an object file for that machine.
TEST(EngineModes, ThereIsCodeForAArch64) {
    auto compiler = codegen::Compiler::create({.target = "aarch64"});
    ASSERT_TRUE(compiler) << compiler.error().message;
    for (const char* const model : kModels) {
        const auto state = load_text(model);
        ASSERT_TRUE(state);
        const loop::Plan plan =
            loop::make_plan(state->program(), {}, {.target = (*compiler)->target()});
        size_t made = 0;
        for (const loop::PlanStep& step : plan.steps) {
            ASSERT_NE(step.kernel(), nullptr);
            const auto object = (*compiler)->object(step.kernel()->function, "kernel");
            ASSERT_TRUE(object) << object.error().message;
            ASSERT_GT(object->size(), 64U);
            EXPECT_EQ(object->substr(0, 4),
                      "\x7F"
                      "ELF");
            EXPECT_EQ((*object)[18], '\xB7');  // EM_AARCH64
            ++made;
        }
        EXPECT_GT(made, 0U);
    }
    loop::ScheduledKernel nothing;
    loop::ScheduledKernel* const kernels[] = {&nothing};
#ifndef __aarch64__
    EXPECT_FALSE((*compiler)->compile(kernels, 1));
#endif
}

// ---- State --------------------------------------------------------------------------------------

TEST(State, UpdatesReadTheVariablesAsTheyWereBeforeTheStep) {
    const auto state = testing_support::load_text(
        R"(
import math;
graph G {
    @input { x: real[19]; }
    @output { y: real[19]; z: real[19]; }
    @variable { a: real[19]; b: real[19]; }
    @compose { y = math.add(a, x); z = math.add(b, x); }
    @update { a = b; b = math.add(a, x); }
})",
        [](const std::string& name, uint64_t i) {
            return static_cast<double>(i) + (name == "b" ? 100 : 0);
        });
    ASSERT_TRUE(state);
    auto engine = Engine::create(*state, {.verify = true});
    ASSERT_TRUE(engine) << engine.error().message;
    interpret::Array x = *interpret::Array::zeros(tensor::DType::F32, {19});
    for (double& value : x.reals) value = 1;
    // Each run passes `b` to `a`, and `a` + 1 to `b`.
    for (const auto& [a, b] : {std::pair{0, 100}, {100, 1}, {1, 101}}) {
        const auto got = (*engine)->run({{"x", {x}}});
        ASSERT_TRUE(got) << got.error().message;
        for (size_t i = 0; i < 19; ++i) {
            EXPECT_EQ(got->at("y")[0].reals[i], static_cast<double>(i) + a + 1);
            EXPECT_EQ(got->at("z")[0].reals[i], static_cast<double>(i) + b + 1);
        }
    }
}

// Large variables exchange their memory with their new values, from run to run from bytes to bytes.
// The new `c` is also an output, the new `a` is the old `b`, and `d` and `e` get one value.
TEST(State, LargeVariablesAreUpdatedWithoutCopies) {
    constexpr size_t kCount = 30000;
    const auto state = testing_support::load_text(
        R"(
import math;
graph G {
    @input { x: real[30000]; }
    @output { y: real[30000]; z: real[30000]; w: real[30000]; v: real[30000]; }
    @variable { a: real[30000]; b: real[30000]; c: real[30000]; d: real[30000]; e: real[30000]; }
    @compose {
        y = math.add(a, x);
        z = math.add(b, x);
        w = math.add(c, x);
        u = math.add(d, e);
        v = math.sub(u, x);
    }
    @update { a = b; b = math.add(a, x); c = w; d = v; e = v; }
})",
        [](const std::string& name, uint64_t i) {
            return static_cast<double>(i % 100) + (name == "b" ? 100 : name == "c" ? 200 : 0);
        });
    ASSERT_TRUE(state);
    auto created = Engine::create(*state, {.verify = true, .threads = 2});
    ASSERT_TRUE(created) << created.error().message;
    Engine& engine = **created;
    interpret::Array x = *interpret::Array::zeros(tensor::DType::F32, {kCount});
    for (double& value : x.reals) value = 1;
    const std::vector<float> ones(kCount, 1.0F);
    const int64_t shape[] = {kCount};
    const Engine::Bytes input{tensor::DType::F32, shape, ones.data()};
    std::set<const void*> places;                       // of `w`
    double a = 0, b = 100, c = 200, d = 0, factor = 1;  // apart from `factor` * (i % 100) for d
    // Runs from bytes to bytes between runs with arrays.
    for (const bool direct : {false, true, true, true, false, true, true, false}) {
        std::vector<std::vector<double>> got;
        if (direct) {
            const auto done = engine.run_directly({&input, 1}, [&](const Engine::Output& made) {
                const auto* const data = static_cast<const float*>(made.data);
                got.emplace_back(data, data + kCount);
                if (got.size() == 3) places.insert(made.data);
                return Result<void>();
            });
            ASSERT_TRUE(done && *done);
        } else {
            const auto outputs = engine.run({{"x", {x}}});
            ASSERT_TRUE(outputs) << outputs.error().message;
            for (const char* const name : {"y", "z", "w", "v"}) {
                got.push_back(outputs->at(name)[0].reals);
            }
        }
        ASSERT_EQ(got.size(), 4U);
        for (size_t i = 0; i < kCount; ++i) {
            const auto place = static_cast<double>(i % 100);
            ASSERT_EQ(got[0][i], place + a + 1);
            ASSERT_EQ(got[1][i], place + b + 1);
            ASSERT_EQ(got[2][i], place + c + 1);
            ASSERT_EQ(got[3][i], 2 * factor * place + 2 * d - 1);
        }
        std::tie(a, b) = std::pair(b, a + 1);
        c += 1;
        d = 2 * d - 1;
        factor *= 2;
    }
    EXPECT_EQ(places.size(), 2U);  // which `c` and its new value exchange
}

// ---- Numerics -----------------------------------------------------------------------------------

TEST(EngineModes, StrictHasTheBitsOfTheInterpreter) {
    for (const char* const model : kModels) {
        const NamedArrays want = oracle(model);
        for (const int threads : {1, 2}) {
            const auto ran =
                run(model, {.threads = threads, .compiler = {.numerics = Numerics::Strict}});
            ASSERT_TRUE(ran);
            EXPECT_LT(ran->interpreted, ran->steps);
            expect_equal(ran->outputs, want);
        }
    }
}

TEST(EngineModes, StrictIsTheSameOnEveryTarget) {
    for (const std::string& target : targets()) {
        for (const char* const model : kModels) {
            const auto ran =
                run(model, {.compiler = {.target = target, .numerics = Numerics::Strict}});
            ASSERT_TRUE(ran);
            expect_equal(ran->outputs, oracle(model));
        }
    }
}

TEST(EngineModes, FastIsNear) {
    for (const std::string& target : targets()) {
        for (const char* const model : kModels) {
            const auto ran =
                run(model, {.compiler = {.target = target, .numerics = Numerics::Fast}});
            ASSERT_TRUE(ran);
            expect_near(ran->outputs, oracle(model), 1e-4);
        }
    }
}

// ---- Object cache -------------------------------------------------------------------------------

class EngineCache : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("lemma-engine-" + std::to_string(::getpid()));
        fs::remove_all(folder_);
    }
    void TearDown() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    EngineOptions options(Numerics numerics = Numerics::Default) const {
        return {.compiler = {.numerics = numerics, .cache_folder = folder_.string()}};
    }

    fs::path folder_;
};

TEST_F(EngineCache, CodeIsFoundAgain) {
    const auto first = run(kConvolution, options());
    const auto second = run(kConvolution, options());
    ASSERT_TRUE(first && second);
    EXPECT_GT(first->stats.kernels, 0U);
    EXPECT_EQ(first->stats.cached, 0U);
    EXPECT_EQ(second->stats.kernels, 0U);
    EXPECT_EQ(second->stats.cached, first->stats.kernels);
    expect_equal(second->outputs, first->outputs);
}

TEST_F(EngineCache, CodeOfOtherOptionsIsNotTaken) {
    ASSERT_TRUE(run(kConvolution, options()));
    const auto fast = run(kConvolution, options(Numerics::Fast));
    ASSERT_TRUE(fast);
    EXPECT_EQ(fast->stats.cached, 0U);
}

TEST_F(EngineCache, DamagedCodeIsMadeAgain) {
    const auto first = run(kConvolution, options());
    ASSERT_TRUE(first);
    for (const auto& entry : fs::directory_iterator(folder_)) {
        std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
        file.put('\x55');
        file.put('\xAA');
    }
    const auto second = run(kConvolution, options());
    ASSERT_TRUE(second);
    EXPECT_EQ(second->stats.cached, 0U);
    expect_equal(second->outputs, first->outputs);
}

TEST_F(EngineCache, AFolderThatCannotBeUsedIsNoError) {
    std::ofstream(folder_) << "a file in its place";
    const auto ran = run(kConvolution, options());
    ASSERT_TRUE(ran);
    EXPECT_NE(ran->stats.cache_trouble, "");
    EXPECT_GT(ran->stats.kernels, 0U);
}

// ---- Reports ------------------------------------------------------------------------------------

TEST(EngineModes, PassesHaveTexts) {
    for (const std::string& pass : loop::dump_passes()) {
        const auto ran = run(kConvolution, {.dump_pass = pass});
        ASSERT_TRUE(ran);
        EXPECT_NE(ran->dumped.find("nn.conv"), std::string::npos) << pass << "\n" << ran->dumped;
    }
    EXPECT_EQ(run(kConvolution, {})->dumped, "");
}

TEST(EngineModes, PeakIsMeasured) {
    auto compiler = codegen::Compiler::create({});
    ASSERT_TRUE(compiler);
    const auto peak = driver::measure_peak(**compiler, 1);
    ASSERT_TRUE(peak) << peak.error().message;
    EXPECT_GT(*peak, 1e8);
    EXPECT_LT(*peak, 1e13);
}

}  // namespace
}  // namespace lemma
