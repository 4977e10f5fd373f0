// SPDX-License-Identifier: Apache-2.0
// Windows along several axes take the axes one after the other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/engine.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using engine::Engine;
using interpret::NamedArrays;
using testing_support::load_text;
using testing_support::random_inputs;
using testing_support::run_interpreter;

bool alike(double got, double want, double tolerance) {
    if (std::isnan(want)) return std::isnan(got);
    if (std::isinf(want) || tolerance == 0) return got == want;
    return std::abs(got - want) <= tolerance * (1 + std::abs(want));
}

// `apart`: the kernel takes one axis at a time.
void expect_as_interpreted(const std::string& text,
                           double tolerance,
                           bool apart = true,
                           const std::vector<double>& special = {}) {
    SCOPED_TRACE(text);
    const auto state = load_text(text);
    ASSERT_TRUE(state);
    NamedArrays inputs = random_inputs(state->program());
    std::vector<double>& values = inputs.at("x")[0].reals;
    for (size_t i = 0; i < special.size(); ++i) values[(i * 97 + 13) % values.size()] = special[i];
    const auto wanted = run_interpreter(*load_text(text), inputs);
    ASSERT_TRUE(wanted) << wanted.error().message;
    for (const int threads : {1, 2}) {
        auto engine = Engine::create(
            *state, {.verify = true, .threads = threads, .dump_pass = "window_axes"});
        ASSERT_TRUE(engine);
        const auto outputs = (*engine)->run(inputs);
        ASSERT_TRUE(outputs) << outputs.error().message;
        const bool found = (*engine)->dumped().find("row by row") != std::string::npos;
        EXPECT_EQ(found, apart) << (*engine)->dumped();
        const auto& want = wanted->at("y")[0];
        const auto& got = outputs->at("y")[0];
        ASSERT_EQ(got.shape, want.shape);
        for (size_t i = 0; i < want.reals.size(); ++i) {
            ASSERT_TRUE(alike(got.reals[i], want.reals[i], tolerance))
                << "y[" << i << "] = " << got.reals[i] << ", not " << want.reals[i];
        }
    }
}

struct Pool {
    const char* shape;       // of the input, after the batch
    const char* attributes;  // of the operator
};

std::string graph_of(const char* op, const Pool& pool) {
    return fmt::format(R"(import nn;
graph G {{
    @input {{ x: real[2, {1}]; }}
    @output {{ y: real; }}
    @compose {{ p = nn.{0}{{{2}}}(x); y = nn.relu(p); }}
}})",
                       op,
                       pool.shape,
                       pool.attributes);
}

constexpr Pool kPools[] = {
    {"5, 17, 33", "size = [3, 3], padding = [1, 1, 1, 1]"},
    {"9, 20, 20", "size = [5, 5], padding = [2, 2, 2, 2]"},
    {"4, 13, 40", "size = [3, 4]"},
    {"4, 12, 14", "size = [3, 3], padding = [2, 0, 0, 2]"},
    {"4, 19, 18", "size = [3, 3], dilation = [2, 3], padding = [2, 3, 2, 3]"},
    {"6, 8, 8, 8", "size = [3, 3, 3], stride = [2, 2, 2], padding = [1, 1, 1, 1, 1, 1]"},
    {"4, 7, 6, 11", "size = [3, 3, 3], padding = [1, 1, 1, 1, 1, 1]"},
    {"4, 9, 10, 11", "size = [2, 5, 3], stride = [1, 2, 3], padding = [0, 2, 1, 1, 2, 1]"},
    {"4, 12, 11, 9", "size = [3, 1, 5], stride = [2, 2, 1], padding = [1, 0, 2, 1, 0, 2]"},
    {"4, 15, 15", "size = [4, 4], stride = [3, 1], ceil_mode = true, padding = [1, 1, 1, 1]"},
};

TEST(EnginePooling, Maxima) {
    for (const Pool& pool : kPools) expect_as_interpreted(graph_of("max_pool", pool), 0);
}

TEST(EnginePooling, Sums) {
    for (const Pool& pool : kPools) expect_as_interpreted(graph_of("sum_pool", pool), 1e-6);
}

TEST(EnginePooling, Means) {
    for (const Pool& pool : kPools) {
        const std::string border = std::string(pool.attributes) + ", ignore_border = false";
        expect_as_interpreted(graph_of("avg_pool", pool), 1e-6);
        expect_as_interpreted(graph_of("avg_pool", {pool.shape, border.c_str()}), 1e-6);
    }
}

// The border must not change them.
TEST(EnginePooling, SpecialNumbers) {
    const std::vector<double> special = {
        std::nan(""), HUGE_VAL, -HUGE_VAL, -0.0, -HUGE_VAL, std::nan(""), -HUGE_VAL, 1e-40};
    for (const Pool& pool : kPools) {
        for (const char* const op : {"max_pool", "sum_pool"}) {
            expect_as_interpreted(graph_of(op, pool), 1e-6, true, special);
        }
    }
}

// A window along one axis, one that the others do not share, and channels behind the window.
TEST(EnginePooling, OtherWindows) {
    expect_as_interpreted(graph_of("max_pool", {"5, 40", "size = [5]"}), 0, false);
    expect_as_interpreted(
        graph_of("max_pool", {"6, 40, 40", "size = [2, 2], stride = [2, 2]"}), 0, false);
    expect_as_interpreted(
        graph_of("max_pool", {"20, 20, 6", "axes = [1, 2], size = [3, 3]"}), 0, false);
}

}  // namespace
}  // namespace lemma
