// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions scatter into their result; compiled code lets each element gather its
// sum.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/engine.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using engine::Engine;
using interpret::NamedArrays;
using testing_support::load_text;
using testing_support::random_inputs;
using testing_support::run_interpreter;

void expect_as_interpreted(const std::string& text, const std::string& schedules) {
    const auto state = load_text(text);
    ASSERT_TRUE(state);
    const NamedArrays inputs = random_inputs(state->program());
    const auto wanted = run_interpreter(*load_text(text), inputs);
    ASSERT_TRUE(wanted) << wanted.error().message;
    for (const int threads : {1, 2}) {
        auto engine = Engine::create(
            *state,
            {.verify = true, .threads = threads, .least_steps = 1, .dump_pass = "schedule"});
        ASSERT_TRUE(engine);
        const auto outputs = (*engine)->run(inputs);
        ASSERT_TRUE(outputs) << outputs.error().message;
        EXPECT_EQ((*engine)->dumped().find("in order"), std::string::npos) << (*engine)->dumped();
        EXPECT_NE((*engine)->dumped().find(schedules), std::string::npos) << (*engine)->dumped();
        for (const auto& [name, items] : *wanted) {
            const auto& got = outputs->at(name)[0];
            ASSERT_EQ(got.shape, items[0].shape);
            for (size_t i = 0; i < items[0].reals.size(); ++i) {
                ASSERT_NEAR(got.reals[i], items[0].reals[i], 1e-4) << name << "[" << i << "]";
            }
        }
    }
}

struct Deconv {
    int extent, size, stride, dilation, before, after;
};

TEST(EngineScatter, TransposedConvolutions) {
    const Deconv cases[] = {{9, 4, 2, 1, 1, 1},
                            {9, 3, 2, 1, 1, 0},
                            {7, 3, 1, 1, 1, 1},
                            {8, 2, 3, 1, 0, 0},  // a remainder with no taps
                            {8, 3, 2, 2, 1, 2},  // every other element has no taps
                            {6, 5, 4, 3, 2, 3},
                            {5, 1, 2, 1, 0, 0},
                            {2, 7, 2, 1, 0, 0}};  // more taps than positions
    for (const Deconv& c : cases) {
        SCOPED_TRACE(fmt::format("{} by {} / {}", c.extent, c.size, c.stride));
        const int count =
            (c.extent - 1) * c.stride + (c.size - 1) * c.dilation + 1 - c.before - c.after;
        expect_as_interpreted(fmt::format(R"(import nn; import math;
graph G {{
    @input {{ x: real[2, 5, {0}, {0}]; s: real[2, 19, {1}, {1}]; }}
    @output {{ y: real[2, 19, {1}, {1}]; }}
    @variable {{ w: real[5, 19, {2}, {2}]; b: real[19]; }}
    @compose {{
        d = nn.deconv{{stride = [{3}, {3}], dilation = [{4}, {4}], padding = [{5}, {5}, {6}, {6}]}}(x, w, b);
        a = math.add(d, s);
        y = nn.relu(a);
    }}
}})",
                                          c.extent,
                                          count,
                                          c.size,
                                          c.stride,
                                          c.dilation,
                                          c.before,
                                          c.after),
                              "tile");
    }
}

TEST(EngineScatter, GroupsAndOneAxis) {
    expect_as_interpreted(R"(import nn;
graph G {
    @input { x: real[1, 8, 11, 11]; z: real[1, 16, 13]; }
    @output { y: real[1, 8, 22, 22]; v: real[1, 24, 28]; }
    @variable { w: real[8, 1, 4, 4]; u: real[16, 24, 4]; }
    @compose {
        y = nn.deconv{stride = [2, 2], padding = [1, 1, 1, 1], groups = 8}(x, w);
        v = nn.deconv{stride = [2], padding = [0, 0]}(z, u);
    }
})",
                          "deconv");
}

// A grouped convolution writes its channels at an index of two variables, each element once.
TEST(EngineScatter, LeavesGroupsAlone) {
    expect_as_interpreted(R"(import nn;
graph G {
    @input { x: real[1, 32, 12, 12]; }
    @output { y: real[1, 64, 12, 12]; }
    @variable { w: real[64, 16, 5, 5]; b: real[64]; }
    @compose { y = nn.conv{padding = [2, 2, 2, 2], groups = 2}(x, w, b); }
})",
                          "tile 2x");
}

// Sums and other reductions that a custom formula scatters.
TEST(EngineScatter, OwnFormulas) {
    expect_as_interpreted(R"(
operator overlap {
    @input { x: real[n, k]; }
    @output { y: real[2 * n + k]; }
    @lower { y[i,] = 1.0, i < 2 * n + k; y[2 * i + j,] += x[i, j], i < n, j < k; }
}
operator highest {
    @input { x: real[n, k]; }
    @output { y: real[3 * n + k]; }
    @lower { y[i,] = -1.0, i < 3 * n + k; y[3 * i + j + 1,] >= x[i, j] - 1.0, i < n, j < k; }
}
graph G {
    @input { x: real[40, 7]; }
    @output { y: real[87]; z: real[127]; }
    @compose { y = overlap(x); z = highest(x); }
})",
                          "overlap");
}

}  // namespace
}  // namespace lemma
