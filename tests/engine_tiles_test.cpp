// SPDX-License-Identifier: Apache-2.0
// Tiles of sums of products: tiles that need too many registers become smaller, and long sums are
// added in parts. Neither changes the order of additions for an element.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "codegen/compiler.h"
#include "engine/engine.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

namespace fs = std::filesystem;
using engine::Engine;
using interpret::NamedArrays;
using testing_support::load_text;
using testing_support::random_inputs;
using testing_support::run_interpreter;

// ---- Registers ----------------------------------------------------------------------------------

constexpr const char* kProduct = R"(import linalg; import nn;
graph G {
    @input { a: real[100, 90]; b: real[90, 64]; }
    @output { y: real[100, 64]; }
    @compose { p = linalg.matmul(a, b); y = nn.relu(p); }
})";

// Kernels for a processor with twice the registers of the compiler's target.
loop::Plan plan_with_wide_tiles(const interpret::State& state, loop::Target target) {
    target.registers *= 2;
    return loop::make_plan(state.program(), {}, {.target = target});
}

std::vector<loop::ScheduledKernel*> kernels_of(loop::Plan& plan) {
    std::vector<loop::ScheduledKernel*> kernels;
    for (loop::PlanStep& step : plan.steps) kernels.push_back(step.kernel());
    return kernels;
}

loop::ScheduledKernel& tiled(loop::Plan& plan) {
    for (loop::PlanStep& step : plan.steps) {
        if (step.kernel()->narrower) return *step.kernel();
    }
    ADD_FAILURE() << "no kernel has tiles";
    return *plan.steps.at(0).kernel();
}

class Folder {
public:
    Folder() : path_(fs::temp_directory_path() / ("lemma_tiles." + std::to_string(::getpid()))) {
        fs::remove_all(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    std::string path() const { return path_.string(); }

private:
    fs::path path_;
};

TEST(EngineTiles, BecomeSmallerWhereRegistersAreTooFew) {
    const auto state = load_text(kProduct);
    ASSERT_TRUE(state);
    auto compiler = codegen::Compiler::create();
    ASSERT_TRUE(compiler) << compiler.error().message;
    loop::Plan plan = plan_with_wide_tiles(*state, (*compiler)->target());
    const std::string wide = tiled(plan).schedule;
    const auto arguments = tiled(plan).arguments;
    const auto code = (*compiler)->compile(kernels_of(plan), 1);
    ASSERT_TRUE(code) << code.error().message;
    EXPECT_EQ((*compiler)->stats().narrowed, 1U);
    EXPECT_EQ((*compiler)->stats().spilling, 0U);
    bool found = false;
    for (const loop::PlanStep& step : plan.steps) {
        if (!step.kernel()->schedule.starts_with("tile")) continue;
        found = true;
        EXPECT_NE(step.kernel()->schedule, wide);
        EXPECT_TRUE(step.kernel()->arguments == arguments);
        EXPECT_GT(step.kernel()->function.items, 0);
    }
    EXPECT_TRUE(found);
}

// Tiles that fit stay.
TEST(EngineTiles, StayWhereRegistersSuffice) {
    const auto state = load_text(kProduct);
    ASSERT_TRUE(state);
    auto compiler = codegen::Compiler::create();
    ASSERT_TRUE(compiler) << compiler.error().message;
    loop::Plan plan = loop::make_plan(state->program(), {}, {.target = (*compiler)->target()});
    const std::string before = tiled(plan).schedule;
    ASSERT_TRUE((*compiler)->compile(kernels_of(plan), 1));
    EXPECT_EQ((*compiler)->stats().narrowed, 0U);
    EXPECT_EQ(tiled(plan).schedule, before);
}

// The cache stores the chosen object under the name of the first form, with the number of its form.
TEST(EngineTiles, SmallerFormsAreFoundOnDisk) {
    const Folder folder;
    std::string schedule;
    int64_t items = 0;
    for (int time = 0; time < 2; ++time) {
        const auto state = load_text(kProduct);
        ASSERT_TRUE(state);
        auto compiler = codegen::Compiler::create({.cache_folder = folder.path()});
        ASSERT_TRUE(compiler) << compiler.error().message;
        loop::Plan plan = plan_with_wide_tiles(*state, (*compiler)->target());
        const auto kernels = kernels_of(plan);
        loop::ScheduledKernel& kernel = tiled(plan);
        const auto code = (*compiler)->compile(kernels, 2);
        ASSERT_TRUE(code) << code.error().message;
        const codegen::CompilerStats& stats = (*compiler)->stats();
        EXPECT_EQ(stats.cache_trouble, "");
        EXPECT_EQ(stats.kernels, time == 0 ? kernels.size() : 0U);
        EXPECT_EQ(stats.cached, time == 0 ? 0U : kernels.size());
        EXPECT_EQ(stats.narrowed, 1U);
        if (time == 0) {
            schedule = kernel.schedule;
            items = kernel.function.items;
        }
        EXPECT_EQ(kernel.schedule, schedule);
        EXPECT_EQ(kernel.function.items, items);
        // A new plan has the kernel in its first form again.
        loop::Plan again = plan_with_wide_tiles(*state, (*compiler)->target());
        loop::ScheduledKernel& same = tiled(again);
        EXPECT_NE(same.schedule, schedule);
        ASSERT_TRUE((*compiler)->compile(kernels_of(again), 1));
        EXPECT_EQ(same.schedule, schedule);
        EXPECT_EQ(same.function.items, items);
    }
}

// ---- Long sums ----------------------------------------------------------------------------------

struct Ran {
    NamedArrays outputs;
    std::string schedules;
};
std::optional<Ran> run(const char* text, const NamedArrays& inputs, int threads) {
    const auto state = load_text(text);
    if (!state) return std::nullopt;
    auto engine = Engine::create(*state, {.verify = true, .threads = threads});
    if (!engine) return std::nullopt;
    auto outputs = (*engine)->run(inputs);
    if (!outputs) return std::nullopt;
    Ran ran{std::move(*outputs), {}};
    for (const loop::PlanStep& step : (*engine)->plan().steps) {
        EXPECT_NE(step.kernel(), nullptr);
        if (!step.kernel()) continue;
        ran.schedules += step.kernel()->schedule + "; ";
    }
    return ran;
}

// Whether the processor has a fused multiply-add.
bool has_fma() {
    const auto compiler = codegen::Compiler::create();
    return compiler && (*compiler)->stats().target != "sse2";
}

TEST(EngineTiles, LongSumsAreTakenInSections) {
    constexpr size_t kRows = 50, kDepth = 24003, kColumns = 72;
    constexpr const char* kLong = R"(import linalg; import math; import nn;
graph G {
    @input { a: real[50, 24003]; b: real[24003, 72]; c: real[1, 72]; }
    @output { y: real[50, 72]; }
    @compose { p = linalg.matmul(a, b); q = math.add(p, c); y = nn.relu(q); }
})";
    const auto state = load_text(kLong);
    ASSERT_TRUE(state);
    const NamedArrays inputs = random_inputs(state->program());
    const auto one = run(kLong, inputs, 1);
    const auto two = run(kLong, inputs, 2);
    ASSERT_TRUE(one && two);
    EXPECT_TRUE(one->schedules.contains(" cut")) << one->schedules;
    const std::vector<double>& y = one->outputs.at("y")[0].reals;
    EXPECT_TRUE(y == two->outputs.at("y")[0].reals);
    const std::vector<double>& a = inputs.at("a")[0].reals;
    const std::vector<double>& b = inputs.at("b")[0].reals;
    const std::vector<double>& c = inputs.at("c")[0].reals;
    const bool fma = has_fma();
    double ours = 0, chain = 0;  // squared errors
    for (size_t i = 0; i < kRows; ++i) {
        for (size_t j = 0; j < kColumns; ++j) {
            double exact = 0;
            float total = 0;
            for (size_t k = 0; k < kDepth; ++k) {
                const double x = a[i * kDepth + k], w = b[k * kColumns + j];
                exact += x * w;
                const volatile float product = static_cast<float>(x) * static_cast<float>(w);
                total = fma ? std::fma(static_cast<float>(x), static_cast<float>(w), total)
                            : total + product;
            }
            if (exact + c[j] <= 0) continue;
            const double error = y[i * kColumns + j] - (exact + c[j]);
            ours += error * error;
            chain += (total - exact) * (total - exact);
        }
    }
    EXPECT_LT(ours, chain / 9);  // a third of the error of one chain
}

// Makes the inputs whole numbers, so that every order gives the same sums.
void round_inputs(NamedArrays& inputs) {
    for (auto& [name, arrays] : inputs) {
        for (double& value : arrays[0].reals) value = std::rint(3 * value);
    }
}

// Each step occurs exactly once.
TEST(EngineTiles, PartsOfConvolutionsAreComplete) {
    constexpr const char* kConvolution = R"(import nn;
graph G {
    @input { x: real[1, 6001, 7, 7]; w: real[40, 6001, 3, 3]; v: real[8, 40, 1, 1]; }
    @output { y: real[1, 8, 7, 7]; }
    @compose { p = nn.conv(x, w); q = nn.relu(p); y = nn.conv(q, v); }
})";
    const auto state = load_text(kConvolution);
    ASSERT_TRUE(state);
    NamedArrays inputs = random_inputs(state->program());
    round_inputs(inputs);
    const auto ran = run(kConvolution, inputs, 2);
    ASSERT_TRUE(ran);
    // Narrow vectors have a tile whose panel fits.
    if (has_fma()) {
        EXPECT_TRUE(ran->schedules.contains(" cut")) << ran->schedules;
    }
    const auto wanted = run_interpreter(*state, inputs);
    ASSERT_TRUE(wanted) << wanted.error().message;
    EXPECT_TRUE(ran->outputs.at("y")[0].reals == wanted->at("y")[0].reals);
}

// A section has many steps of an outer loop where the inner ones are short. 203 channels are no
// multiple of a section, and 97 products of 5 taps need sections of different lengths.
TEST(EngineTiles, SectionsSpanShortInnerLoops) {
    struct Case {
        const char *x, *w, *y, *attributes;
    };
    const Case cases[] = {
        {"1, 203, 50", "40, 203, 3", "1, 40, 25", "padding = [1, 1], stride = [2]"},
        {"1, 203, 50", "4, 203, 3", "1, 4, 50", "padding = [1, 1]"},
        {"1, 97, 70", "3, 97, 5", "1, 3, 66", "padding = [0, 0]"},
        {"1, 7, 9, 33", "5, 7, 8, 11", "1, 5, 2, 23", "padding = [0, 0, 0, 0]"},
    };
    for (const Case& c : cases) {
        const std::string text = fmt::format(R"(import nn;
graph G {{
    @input {{ x: real[{}]; w: real[{}]; }}
    @output {{ y: real[{}]; }}
    @compose {{ y = nn.conv{{{}}}(x, w); }}
}})",
                                             c.x,
                                             c.w,
                                             c.y,
                                             c.attributes);
        SCOPED_TRACE(text);
        const auto state = load_text(text);
        ASSERT_TRUE(state);
        NamedArrays inputs = random_inputs(state->program());
        round_inputs(inputs);
        const auto ran = run(text.c_str(), inputs, 1);
        ASSERT_TRUE(ran);
        EXPECT_TRUE(ran->schedules.contains("tile ")) << ran->schedules;
        const auto wanted = run_interpreter(*state, inputs);
        ASSERT_TRUE(wanted) << wanted.error().message;
        EXPECT_TRUE(ran->outputs.at("y")[0].reals == wanted->at("y")[0].reals);
    }
}

}  // namespace
}  // namespace lemma
