// SPDX-License-Identifier: Apache-2.0
// Sums over windows on transformed tiles: they agree with the interpreter for all sizes, their
// errors stay near those of plain sums, and they do not depend on the number of threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "codegen/compiler.h"
#include "engine/engine.h"
#include "interpret/random.h"
#include "loop/plan/plan.h"
#include "support/engine_models.h"
#include "support/loop_evaluator.h"

namespace lemma {
namespace {

using engine::Engine;
using engine::EngineOptions;
using interpret::NamedArrays;
using loop::Numerics;
using testing_support::load_text;
using testing_support::random_inputs;
using testing_support::run_interpreter;

constexpr double kAlways = HUGE_VAL, kNever = 0;  // of window_share and term_share

// Between -1 and 1.
double weight(const std::string& name, uint64_t i) {
    return interpret::random_unit(name.size(), i) * 2 - 1;
}

struct Ran {
    NamedArrays outputs;
    std::string dumped;
};

Ran run(const std::string& text, const NamedArrays& inputs, EngineOptions options) {
    const auto state = load_text(text, weight);
    options.verify = true;
    options.term_share = kNever;
    options.dump_pass = "schedule";
    auto engine = Engine::create(*state, std::move(options));
    EXPECT_TRUE(engine) << engine.error().message;
    if (!engine) return {};
    auto outputs = (*engine)->run(inputs);
    EXPECT_TRUE(outputs) << outputs.error().message;
    if (!outputs) return {};
    return {std::move(*outputs), (*engine)->dumped()};
}

NamedArrays oracle(const std::string& text, const NamedArrays& inputs) {
    auto wanted = run_interpreter(*load_text(text, weight), inputs);
    EXPECT_TRUE(wanted);
    return wanted ? std::move(*wanted) : NamedArrays{};
}

// The root of the mean square error and the largest error, relative to the root of the mean square
// of the values.
struct Errors {
    double mean = 0, largest = 0;
};
Errors errors(const NamedArrays& got, const NamedArrays& want) {
    double squares = 0, wrong = 0, largest = 0, count = 0;
    for (const auto& [name, items] : want) {
        const std::vector<double>& values = got.at(name)[0].reals;
        EXPECT_EQ(values.size(), items[0].reals.size());
        for (size_t i = 0; i < values.size(); ++i) {
            const double difference = std::fabs(values[i] - items[0].reals[i]);
            EXPECT_TRUE(std::isfinite(difference)) << name << "[" << i << "]";
            squares += items[0].reals[i] * items[0].reals[i];
            wrong += difference * difference;
            largest = std::fmax(largest, difference);
            ++count;
        }
    }
    const double size = std::sqrt(squares / count);
    return {std::sqrt(wrong / count) / size, largest / size};
}

struct Shape {
    int batch, channels, height, width, results, padding, groups;
};
std::string text_of(const Shape& s) {
    const int taps = 3;
    return fmt::format(R"(import nn; import math;
graph G {{
    @input {{ x: real[{0}, {1}, {2}, {3}]; z: real[{0}, {4}, {5}, {6}]; }}
    @output {{ y: real[{0}, {4}, {5}, {6}]; }}
    @variable {{ w: real[{4}, {7}, {8}, {8}]; bias: real[{4}]; }}
    @compose {{
        c = nn.conv{{padding = {9}, groups = {10}}}(x, w, bias);
        s = math.add(c, z);
        y = nn.relu(s);
    }}
}})",
                       s.batch,
                       s.channels,
                       s.height,
                       s.width,
                       s.results,
                       s.height + 2 * s.padding - taps + 1,
                       s.width + 2 * s.padding - taps + 1,
                       s.channels / s.groups,
                       taps,
                       s.padding,
                       s.groups);
}
std::string name_of(const Shape& s) {
    return fmt::format("{}x{}x{}x{} to {}, padding {}, {} groups",
                       s.batch,
                       s.channels,
                       s.height,
                       s.width,
                       s.results,
                       s.padding,
                       s.groups);
}

// Odd sizes, tiles over the edge, images smaller than a tile, channels that fill no vector, several
// blocks of tiles, and long sums.
constexpr Shape kShapes[] = {
    {1, 16, 8, 8, 16, 1, 1},
    {1, 17, 7, 9, 24, 1, 1},
    {2, 20, 5, 6, 40, 0, 1},
    {1, 33, 3, 3, 70, 1, 1},
    {1, 16, 13, 13, 130, 1, 1},
    {3, 40, 11, 4, 12, 2, 1},
    {1, 64, 2, 17, 16, 1, 1},
    {1, 48, 14, 14, 64, 1, 2},
    {2, 66, 6, 7, 24, 1, 2},
    {1, 16, 70, 61, 16, 1, 1},
    {1, 520, 6, 6, 32, 1, 1},
};

// Runs with tiles wherever they are possible, for several targets, between inaccessible pages.
void expect_agreement(const std::string& text) {
    const NamedArrays inputs = random_inputs(load_text(text)->program());
    const NamedArrays want = oracle(text, inputs);
    for (const Numerics numerics : {Numerics::Default, Numerics::Fast}) {
        for (const char* const target : {"", "avx2", "sse2"}) {
            SCOPED_TRACE(target);
            EngineOptions options;
            options.compiler.target = target;
            options.compiler.numerics = numerics;
            options.threads = 2;
            options.guarded = true;
            options.window_share = kAlways;
            const Ran ran = run(text, inputs, std::move(options));
            EXPECT_NE(ran.dumped.find("F("), std::string::npos) << ran.dumped;
            const bool fast = numerics == Numerics::Fast;
            EXPECT_LT(errors(ran.outputs, want).largest, fast ? 1e-4 : 4e-6);
        }
    }
}

TEST(EngineWinograd, AgreesWithTheInterpreter) {
    for (const Shape& shape : kShapes) {
        SCOPED_TRACE(name_of(shape));
        expect_agreement(text_of(shape));
    }
}

// A window of three taps along one axis of an image, and of a sequence.
TEST(EngineWinograd, AlongOneAxis) {
    expect_agreement(R"(import nn;
graph G {
    @input { x: real[1, 24, 9, 11]; t: real[2, 19, 37]; }
    @output { y: real[1, 40, 9, 11]; z: real[1, 40, 9, 11]; s: real[2, 21, 35]; }
    @variable { w: real[40, 24, 1, 3]; v: real[40, 24, 3, 1]; u: real[21, 19, 3]; }
    @compose {
        y = nn.conv{padding = [0, 1, 0, 1]}(x, w);
        z = nn.conv{padding = [1, 0, 1, 0]}(x, v);
        s = nn.conv{padding = 0}(t, u);
    }
})");
}

TEST(EngineWinograd, HasTheSameBitsWithAnyNumberOfThreads) {
    const std::string text = text_of({1, 64, 30, 30, 192, 1, 1});
    const NamedArrays inputs = random_inputs(load_text(text)->program());
    const Ran alone = run(text, inputs, {.threads = 1});
    EXPECT_NE(alone.dumped.find("F(2, 3)"), std::string::npos);
    for (const int threads : {2, 3, 8}) {
        const Ran together = run(text, inputs, {.threads = threads});
        EXPECT_EQ(together.outputs.at("y")[0].reals, alone.outputs.at("y")[0].reals) << threads;
    }
}

// Each kernel on transformed tiles, on random memory: the evaluator checks every access, and
// machine code leaves the same bits.
TEST(EngineWinograd, KernelsMatchTheirLoops) {
    const auto state = load_text(text_of({2, 20, 9, 7, 40, 1, 1}), weight);
    const auto compiler = codegen::Compiler::create();
    ASSERT_TRUE(compiler) << compiler.error().message;
    const bool fused = (*compiler)->stats().target != "sse2";
    size_t checked = 0;
    for (const Numerics numerics : {Numerics::Default, Numerics::Fast}) {
        loop::Plan plan = loop::make_plan(state->program(),
                                          {},
                                          {.target = (*compiler)->target(),
                                           .numerics = numerics,
                                           .window_share = kAlways,
                                           .term_share = kNever,
                                           .verify = true});
        std::vector<loop::ScheduledKernel*> kernels;
        for (loop::PlanStep& step : plan.steps) {
            if (step.kernel()->schedule.starts_with("F(")) kernels.push_back(step.kernel());
        }
        const auto code = (*compiler)->compile(kernels, 1);
        ASSERT_TRUE(code) << code.error().message;
        for (size_t i = 0; i < kernels.size(); ++i) {
            const loop::Function& function = kernels[i]->function;
            std::vector<tensor::Tensor> loops;
            for (size_t k = 0; k < kernels[i]->arguments.size(); ++k) {
                const int64_t elements = plan.storages[kernels[i]->arguments[k]].elements;
                loops.push_back(tensor::Tensor::zeros(ir::DType::F32, {elements}).value());
                for (int64_t at = 0; at < elements; ++at) {
                    const double unit = interpret::random_unit(k, static_cast<uint64_t>(at));
                    loops.back().set_real(at, unit * 4 - 2);
                }
            }
            std::vector<tensor::Tensor> compiled = loops;
            std::vector<void*> pointers;
            for (tensor::Tensor& buffer : compiled) pointers.push_back(buffer.bytes().data());
            const auto done =
                testing::evaluate(function,
                                  {0, function.items},
                                  fused ? testing::Fma::Fused : testing::Fma::Separate,
                                  loops);
            ASSERT_TRUE(done) << done.error().message;
            (*code)[i](pointers.data(), 0, function.items);
            for (size_t k = 0; k < loops.size(); ++k) {
                for (int64_t at = 0; at < loops[k].size(); ++at) {
                    ASSERT_EQ(compiled[k].real(at), loops[k].real(at)) << k << "[" << at << "]";
                }
            }
            ++checked;
        }
    }
    EXPECT_EQ(checked, 2U);
}

// The rule of default numerics: the errors of transformed tiles stay within twice those of plain
// sums. With LEMMA_PRINT_ERRORS, the test prints them.
TEST(EngineWinograd, ErrorsStayWithinTwiceThoseOfPlainSums) {
    constexpr Shape kMeasured[] = {
        {1, 16, 24, 24, 32, 1, 1},
        {1, 64, 28, 28, 64, 1, 1},
        {1, 128, 14, 14, 64, 1, 1},
        {1, 256, 14, 14, 32, 1, 1},
        {1, 512, 7, 7, 64, 1, 1},
    };
    for (const Shape& shape : kMeasured) {
        SCOPED_TRACE(name_of(shape));
        const std::string text = text_of(shape);
        const NamedArrays inputs = random_inputs(load_text(text)->program());
        const NamedArrays want = oracle(text, inputs);
        const Ran plain = run(text, inputs, {.window_share = kNever});
        const Ran tiles = run(text, inputs, {.window_share = kAlways});
        EXPECT_EQ(plain.dumped.find("F("), std::string::npos);
        EXPECT_NE(tiles.dumped.find("F(2, 3)"), std::string::npos);
        const Errors direct = errors(plain.outputs, want);
        const Errors transformed = errors(tiles.outputs, want);
        EXPECT_LE(transformed.mean, 2 * direct.mean);
        EXPECT_LE(transformed.largest, 2 * direct.largest);
        if (!std::getenv("LEMMA_PRINT_ERRORS")) continue;
        EngineOptions fast;
        fast.compiler.numerics = Numerics::Fast;
        fast.window_share = kAlways;
        const Errors four = errors(run(text, inputs, std::move(fast)).outputs, want);
        fmt::print("{}: plain {:.2e} {:.2e}, F(2, 3) {:.2e} {:.2e}, fast {:.2e} {:.2e}\n",
                   name_of(shape),
                   direct.mean,
                   direct.largest,
                   transformed.mean,
                   transformed.largest,
                   four.mean,
                   four.largest);
    }
}

}  // namespace
}  // namespace lemma
