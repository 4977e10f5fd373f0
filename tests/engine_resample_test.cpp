// SPDX-License-Identifier: Apache-2.0
// Interpolations take one axis at a time, with tables of positions and weights.
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

void expect_as_interpreted(const std::string& text, bool tables = true) {
    SCOPED_TRACE(text);
    const auto state = load_text(text);
    ASSERT_TRUE(state);
    const NamedArrays inputs = random_inputs(state->program());
    const auto wanted = run_interpreter(*load_text(text), inputs);
    ASSERT_TRUE(wanted) << wanted.error().message;
    for (const int threads : {1, 2}) {
        auto engine =
            Engine::create(*state, {.verify = true, .threads = threads, .dump_pass = "schedule"});
        ASSERT_TRUE(engine);
        const auto outputs = (*engine)->run(inputs);
        ASSERT_TRUE(outputs) << outputs.error().message;
        const bool found = (*engine)->dumped().find(" tables") != std::string::npos;
        EXPECT_EQ(found, tables) << (*engine)->dumped();
        for (const auto& [name, items] : *wanted) {
            const auto& got = outputs->at(name)[0];
            ASSERT_EQ(got.shape, items[0].shape);
            for (size_t i = 0; i < items[0].reals.size(); ++i) {
                const double one = items[0].reals[i];
                ASSERT_NEAR(got.reals[i], one, 3e-6 * (1 + std::abs(one)))
                    << name << "[" << i << "]";
            }
        }
    }
}

struct Sizes {
    int height, width, to_height, to_width;
};
constexpr Sizes kSizes[] = {{7, 9, 14, 18}, {13, 5, 40, 33}, {28, 31, 11, 17}, {16, 6, 9, 50}};

TEST(EngineResample, Linear) {
    for (const Sizes& s : kSizes) {
        for (const char* const rule : {"SYMMETRIC", "ASYMMETRIC", "ALIGNED"}) {
            expect_as_interpreted(fmt::format(R"(import image; import nn;
graph G {{
    @input {{ x: real[2, 3, {0}, {1}]; }}
    @output {{ y: real[2, 3, {2}, {3}]; }}
    @compose {{
        r = image.linear_resize{{axes = [2, 3], size = [{2}, {3}], antialias = false,
                             coordinate_transform = '{4}'}}(x);
        y = nn.relu(r);
    }}
}})",
                                              s.height,
                                              s.width,
                                              s.to_height,
                                              s.to_width,
                                              rule));
        }
    }
}

// Four taps for each axis, with weights from a polynomial in pieces.
TEST(EngineResample, Cubic) {
    for (const Sizes& s : kSizes) {
        expect_as_interpreted(fmt::format(R"(
operator cubic {{
    @attrib {{ h: int; w: int; }}
    @input {{ x: real[c, n, m]; }}
    @using {{ rise = real(n) / real(h); run = real(m) / real(w); }}
    @output {{ y: real[c, h, w]; }}
    @lower {{
        p = (real(i) + 0.5) * rise - 0.5,
        q = (real(j) + 0.5) * run - 0.5,
        a = int(`floor`(p)) - 1 + k,
        b = int(`floor`(q)) - 1 + l,
        s = `abs`(real(a) - p),
        t = `abs`(real(b) - q),
        u = s <= 1.0 ? (1.5 * s - 2.5) * s * s + 1.0 : ((-0.5 * s + 2.5) * s - 4.0) * s + 2.0,
        v = t <= 1.0 ? (1.5 * t - 2.5) * t * t + 1.0 : ((-0.5 * t + 2.5) * t - 4.0) * t + 2.0,
        y[o, i, j] += u * v * x[o, (a >> 0) << (n - 1), (b >> 0) << (m - 1)],
            o < c, i < h, j < w, k < 4, l < 4;
    }}
}}
graph G {{
    @input {{ x: real[4, {0}, {1}]; }}
    @output {{ y: real[4, {2}, {3}]; }}
    @compose {{ y = cubic{{h = {2}, w = {3}}}(x); }}
}})",
                                          s.height,
                                          s.width,
                                          s.to_height,
                                          s.to_width));
    }
}

TEST(EngineResample, OneAxisAndThree) {
    expect_as_interpreted(R"(import image;
graph G {
    @input { x: real[1, 4, 37]; z: real[1, 2, 5, 6, 7]; }
    @output { y: real[1, 4, 81]; v: real[1, 2, 9, 12, 20]; }
    @compose {
        y = image.linear_resize{axes = [2], size = [81]}(x);
        v = image.linear_resize{axes = [2, 3, 4], size = [9, 12, 20]}(z);
    }
})");
}

// Positions come from a table; there are no weights.
TEST(EngineResample, Nearest) {
    for (const Sizes& s : kSizes) {
        expect_as_interpreted(fmt::format(R"(import image;
graph G {{
    @input {{ x: real[1, 5, {0}, {1}]; }}
    @output {{ y: real[1, 5, {2}, {3}]; }}
    @compose {{
        y = image.nearest_resize{{axes = [2, 3], size = [{2}, {3}], rounding_method = 'FLOOR'}}(x);
    }}
}})",
                                          s.height,
                                          s.width,
                                          s.to_height,
                                          s.to_width));
    }
}

// Positions that depend on data, on two axes of the result, or that may leave the source.
TEST(EngineResample, LeavesOtherSumsAlone) {
    expect_as_interpreted(R"(
operator shear {
    @input { x: real[n, m]; }
    @output { y: real[n, m]; }
    @lower {
        y[i, j] += (1.0 - real(k)) * x[i, ((j + i * i + k) >> 0) << (m - 1)], i < n, j < m, k < 2;
    }
}
graph G {
    @input { x: real[40, 50]; }
    @output { y: real[40, 50]; }
    @compose { y = shear(x); }
})",
                          false);
}

}  // namespace
}  // namespace lemma
