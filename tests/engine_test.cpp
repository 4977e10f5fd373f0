// SPDX-License-Identifier: Apache-2.0
// Compiled code against the interpreter, which is the oracle (design D7): random data, shapes
// around the edges of vectors and tiles, and fusion. The tolerances are those of sums in float.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/engine.h"
#include "session/tensors.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using engine::Engine;
using interpret::Array;
using interpret::NamedArrays;
using testing_support::load_text;
using testing_support::run_interpreter;

void compare(const std::string& text, int threads, double tolerance, size_t interpreted) {
    const auto oracle = load_text(text);
    const auto own = load_text(text);
    ASSERT_TRUE(oracle && own);
    NamedArrays inputs;
    ASSERT_TRUE(session::add_random_inputs(oracle->program(), 3, inputs));
    const auto want = run_interpreter(*oracle, inputs);
    ASSERT_TRUE(want) << want.error().message;
    auto engine = Engine::create(*own, {.verify = true, .threads = threads});
    ASSERT_TRUE(engine) << engine.error().message;
    for (int run = 0; run < 2; ++run) {
        const auto got = (*engine)->run(inputs);
        ASSERT_TRUE(got) << got.error().message;
        for (const auto& [name, items] : *want) {
            for (size_t k = 0; k < items.size(); ++k) {
                const Array& a = got->at(name)[k];
                const Array& b = items[k];
                ASSERT_EQ(a.shape, b.shape);
                EXPECT_EQ(a.integers, b.integers);
                double largest = 1;
                for (const double value : b.reals) largest = std::max(largest, std::fabs(value));
                for (size_t i = 0; i < b.reals.size(); ++i) {
                    ASSERT_NEAR(a.reals[i], b.reals[i], tolerance * largest)
                        << name << "[" << i << "], run " << run << "\n"
                        << text;
                }
            }
        }
    }
    size_t found = 0;
    for (const loop::PlanStep& step : (*engine)->plan().steps)
        found += step.is<loop::InterpretedStep>();
    EXPECT_EQ(found, interpreted);
}

struct Conv {
    int batch, channels, height, width, filters, kernel, stride, padding, dilation, groups;
};

std::string conv_model(const Conv& c, const std::string& behind) {
    const auto size = [&](int extent) {
        return (extent + 2 * c.padding - c.dilation * (c.kernel - 1) - 1) / c.stride + 1;
    };
    return fmt::format(R"(import nn; import math;
graph G {{
    @input {{ x: real[{0}, {1}, {2}, {3}]; }}
    @output {{ y: real[{0}, {4}, {12}, {13}]; }}
    @variable {{ w: real[{4}, {5}, {6}, {6}]; b: real[{4}]; m: real[{4}]; v: real[{4}]; s: real[{4}];
                 o: real[{4}]; }}
    @compose {{
        z = nn.conv{{stride = [{7}, {7}], dilation = [{8}, {8}], padding = [{9}, {9}, {9}, {9}],
                    groups = {10}}}(x, w, b);
{11}
    }}
}})",
                       c.batch,
                       c.channels,
                       c.height,
                       c.width,
                       c.filters,
                       c.channels / c.groups,
                       c.kernel,
                       c.stride,
                       c.dilation,
                       c.padding,
                       c.groups,
                       behind,
                       size(c.height),
                       size(c.width));
}

constexpr Conv kConvs[] = {
    {1, 3, 17, 19, 24, 3, 1, 1, 1, 1},
    {1, 16, 9, 9, 64, 1, 1, 0, 1, 1},
    {1, 20, 7, 7, 70, 3, 2, 1, 1, 1},
    {2, 8, 12, 13, 33, 5, 1, 2, 1, 1},
    {1, 12, 14, 14, 16, 3, 1, 2, 2, 1},
    {1, 32, 10, 11, 32, 3, 1, 1, 1, 32},
    {1, 40, 9, 9, 40, 3, 2, 1, 1, 40},
    {1, 32, 8, 8, 64, 3, 1, 1, 1, 2},
    {1, 130, 5, 5, 100, 1, 1, 0, 1, 1},
    {1, 4, 30, 31, 8, 7, 2, 3, 1, 1},
    {3, 16, 6, 6, 17, 3, 1, 1, 1, 1},
    {1, 64, 1, 1, 256, 1, 1, 0, 1, 1},
    {1, 48, 20, 20, 96, 1, 2, 0, 1, 1},
};

TEST(Engine, Convolutions) {
    for (const Conv& c : kConvs) {
        compare(conv_model(c, "        y = nn.relu(z);"), 1, 2e-6, 0);
    }
}

TEST(Engine, NormalisedConvolutionsWithShortcuts) {
    for (const Conv& c : kConvs) {
        const std::string behind = R"(
        n = nn.batch_norm{epsilon = 0.001}(z, m, v, o, s);
        r = nn.relu(n);
        p = nn.max_pool{axes = [2, 3], size = [3, 3], stride = [1, 1], padding = [1, 1, 1, 1]}(r);
        y = math.add(p, n);)";
        compare(conv_model(c, behind), 2, 1e-5, 0);
    }
}

// Scales and shifts per channel before operations that cannot fold them; also with elements far
// from zero and near their means.
TEST(Engine, NormalisedInputs) {
    for (const std::array<int, 3>& c :
         {std::array{16, 9, 9}, {70, 5, 7}, {3, 12, 1}, {64, 14, 14}}) {
        compare(fmt::format(R"(import nn; import math; import layout;
graph G {{
    @input {{ x: real[2, {0}, {1}, {2}]; }}
    @output {{ y: real[2, 24, {1}, {2}]; z: real[2, {0}, 1, 1]; far: real[2, {0}, {1}, {2}]; near: real[2, {0}, {1}, {2}]; }}
    @variable {{ w: real[24, {0}, 1, 1]; m: real[{0}]; v: real[{0}]; s: real[{0}]; o: real[{0}];
                 u: real[{0}, 1, 1]; d: real[{0}, 1, 1]; }}
    @compose {{
        n = nn.batch_norm{{epsilon = 0.001}}(x, m, v, o, s);
        r = nn.relu(n);
        y = nn.conv{{padding = [0, 0, 0, 0]}}(r, w);
        p = nn.max_pool{{axes = [2, 3], size = [{1}, {2}], stride = [1, 1], padding = [0, 0, 0, 0]}}(x);
        q = nn.batch_norm{{epsilon = 0.001}}(p, m, v, o, s);
        t = math.sub(u, q);
        e = math.exp(d);
        z = math.mul(t, e);
        large = math.mul(m, 65536.0);
        column = layout.unsqueeze{{axes = [1, 2]}}(large);
        far = math.add(x, column);
        near = nn.batch_norm{{epsilon = 0.001}}(far, large, v, o, s);
    }}
}})",
                            c[0],
                            c[1],
                            c[2]),
                2,
                1e-5,
                0);
    }
}

TEST(Engine, ProductsOfMatrices) {
    for (const auto& [m, k, n] :
         {std::array{1, 70, 33}, {7, 64, 64}, {13, 100, 130}, {40, 5, 16}, {128, 96, 80}}) {
        for (const bool transposed : {false, true}) {
            compare(
                fmt::format(R"(import linalg; import nn;
graph G {{
    @input {{ a: real[3, {0}, {1}]; b: real[3, {2}]; }}
    @output {{ y: real[3, {0}, {4}]; }}
    @compose {{ p = linalg.matmul{{transB = {3}}}(a, b); y = nn.softmax{{axes = [-1]}}(p); }}
}})",
                            m,
                            k,
                            transposed ? fmt::format("{}, {}", n, k) : fmt::format("{}, {}", k, n),
                            transposed,
                            n),
                2,
                1e-5,
                0);
        }
    }
}

// Operands of a concatenation along the channels are computed in its result, also if that is part
// of another concatenation or has other readers. A channel shuffle is one copy.
TEST(Engine, ConcatenationsAndShuffles) {
    compare(R"(import nn; import math; import layout;
graph G {
    @input { x: real[1, 16, 9, 9]; }
    @output { y: real[1, 48, 9, 9]; z: real[1, 24, 9, 9]; }
    @variable { w1: real[24, 16, 1, 1]; w2: real[24, 16, 3, 3]; w3: real[24, 48, 1, 1]; w4: real[48, 1, 3, 3]; }
    @compose {
        a = nn.conv{padding = [0, 0, 0, 0]}(x, w1);
        b = nn.conv{padding = [1, 1, 1, 1]}(x, w2);
        r = nn.relu(b);
        both = layout.concat{axis = 1}([a, r]);
        c = nn.conv{padding = [0, 0, 0, 0]}(both, w3);
        all = layout.concat{axis = 1}([both, c]);
        half = layout.slice{axes = [1], begin = [24], end = [72]}(all);
        groups = layout.reshape{shape = [1, 4, 12, 9, 9]}(half);
        mixed = layout.transpose{perm = [0, 2, 1, 3, 4]}(groups);
        flat = layout.reshape{shape = [1, 48, 9, 9]}(mixed);
        y = nn.conv{padding = [1, 1, 1, 1], groups = 48}(flat, w4);
        z = math.add(c, a);
    }
})",
            2,
            1e-5,
            0);
}

// Maps whose result interleaves two, four or eight rows.
TEST(Engine, InterleavedRows) {
    for (const int ways : {2, 3, 4, 8}) {
        for (const int columns : {15, 16, 28, 33, 64}) {
            compare(fmt::format(R"(
operator interleaved {{
    @input {{ x: real[n, c, g, t]; s: real[g]; z: real[t]; }}
    @output {{ y: real[n, c, t, g]; }}
    @lower {{ y[i, j, k, l] = x[i, j, l, k] * s[l,] + z[k,] + 0.5, i < n, j < c, k < t, l < g; }}
}}
graph G {{
    @input {{ x: real[3, 25, {0}, {1}]; s: real[{0}]; z: real[{1}]; }}
    @output {{ y: real[3, 25, {1}, {0}]; }}
    @compose {{ y = interleaved(x, s, z); }}
}})",
                                ways,
                                columns),
                    2,
                    1e-6,
                    0);
        }
    }
}

// A function of two elements that is no product, and weights with a factor.
TEST(Engine, SumsOfOtherThings) {
    compare(R"(
operator distances {
    @input { x: real[n, d]; y: real[m, d]; }
    @output { z: real[n, m]; }
    @lower { z[i, j] += (x[i, k] - y[j, k]) ** 2.0, i < n, j < m, k < d; }
}
operator window_conv {
    @input { x: real[c, t]; filter: real[n, c, m]; window: real[m]; }
    @output { y: real[n, t - m + 1]; }
    @lower { y[j, k] += x[h, k + l] * filter[j, h, l] * window[l,], j < n, k < t - m + 1, h < c, l < m; }
}
graph G {
    @input { a: real[37, 29]; b: real[45, 29]; x: real[7, 50]; }
    @output { z: real[37, 45]; y: real[19, 46]; }
    @variable { w: real[19, 7, 5]; v: real[5]; }
    @compose { z = distances(a, b); y = window_conv(x, w, v); }
})",
            2,
            1e-5,
            0);
}

// Windows over the edge of a slice read zeros, not the elements outside the slice.
TEST(Engine, WindowsOverSlices) {
    for (const int begin : {0, 3, 9}) {
        compare(fmt::format(R"(import layout; import nn;
graph G {{
    @input {{ x: real[1, 18, 18, 11]; }}
    @output {{ y: real[1, 20, 9, 11]; z: real[1, 18, 9, 11]; }}
    @variable {{ w: real[20, 18, 3, 3]; }}
    @compose {{
        a = layout.slice{{axes = [2], begin = [{0}], end = [{1}]}}(x);
        y = nn.conv{{padding = [1, 1, 1, 1]}}(a, w);
        z = nn.max_pool{{axes = [2, 3], size = [3, 3], stride = [1, 1], padding = [1, 1, 1, 1]}}(a);
    }}
}})",
                            begin,
                            begin + 9),
                2,
                1e-5,
                0);
    }
}

// All kinds of stages read the parts of a split from the whole, along any axis.
TEST(Engine, Splits) {
    for (const int axis : {1, 2, 3}) {
        compare(fmt::format(R"(import layout; import math; import nn;
graph G {{
    @input {{ x: real[2, {1}, {2}, {3}]; }}
    @output {{ y: real[2, 20, 9, 11]; z: real[2, 18, 9, 11]; s: real[2, 18, 9, 11]; t: real[2, 18, 1, 1]; }}
    @variable {{ w: real[20, 18, 3, 3]; }}
    @compose {{
        n = math.tanh(x);
        [a, b, c, d] = layout.split{{axis = {0}, count = 4}}(n);
        y = nn.conv{{padding = [1, 1, 1, 1]}}(a, w);
        g = nn.sigmoid(b);
        z = math.mul(g, c);
        s = math.add(d, 0.0);
        t = math.max_reduce{{axes = [2, 3]}}(d);
    }}
}})",
                            axis,
                            axis == 1 ? 72 : 18,
                            axis == 2 ? 36 : 9,
                            axis == 3 ? 44 : 11),
                2,
                1e-5,
                0);
    }
}

// Both operands are the same tensor.
TEST(Engine, ProductsWithItself) {
    for (const auto& [m, k] : {std::array{40, 33}, {130, 17}}) {
        compare(fmt::format(R"(import linalg; import math; import nn;
graph G {{
    @input {{ x: real[2, {0}, {1}]; }}
    @output {{ y: real[2, {0}, {0}]; z: real[2, {1}, {1}]; u: real[2, {0}, {0}]; }}
    @compose {{
        y = linalg.matmul{{transB = true}}(x, x);
        t = math.tanh(x);
        z = linalg.matmul{{transA = true}}(t, t);
        s = math.mul(t, 0.5);
        g = linalg.matmul{{transB = true}}(s, t);
        u = nn.softmax{{axes = [-1]}}(g);
    }}
}})",
                            m,
                            k),
                2,
                1e-5,
                0);
    }
}

// One row for each matrix of weights: no points share them.
TEST(Engine, BatchesOfWeightsForOneRow) {
    compare(R"(import linalg;
graph G {
    @input { a: real[8, 1, 64]; }
    @output { y: real[8, 1, 64]; }
    @variable { w: real[8, 64, 64]; }
    @compose { y = linalg.matmul(a, w); }
})",
            2,
            1e-5,
            0);
}

TEST(Engine, HandsOnWhatIsNotANumber) {
    const std::string text = R"(import math; import nn;
graph G {
    @input { a: real[40]; b: real[40]; }
    @output { y: real[40]; z: real[40]; r: real[40]; }
    @compose { y = math.max(a, b); z = math.min(a, b); r = nn.relu(a); }
})";
    const auto state = load_text(text);
    ASSERT_TRUE(state);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Array a = *Array::zeros(tensor::DType::F32, {40});
    Array b = a;
    for (size_t i = 0; i < 40; ++i) {
        a.reals[i] = i % 3 == 0 ? nan : 1.0;
        b.reals[i] = i % 3 == 1 ? nan : 2.0;
    }
    auto engine = Engine::create(*state, {.verify = true});
    ASSERT_TRUE(engine);
    const auto got = (*engine)->run({{"a", {a}}, {"b", {b}}});
    ASSERT_TRUE(got) << got.error().message;
    for (size_t i = 0; i < 40; ++i) {
        EXPECT_EQ(std::isnan(got->at("y")[0].reals[i]), i % 3 != 2) << i;
        EXPECT_EQ(std::isnan(got->at("z")[0].reals[i]), i % 3 != 2) << i;
        EXPECT_EQ(std::isnan(got->at("r")[0].reals[i]), i % 3 == 0) << i;
    }
}

// At any position: in a full vector, or in the rest after whole vectors.
TEST(Engine, HandsOnWhatIsNotANumberThroughReductions) {
    const std::string text = R"(import math;
graph G {
    @input { a: real[100, 100]; }
    @output { y: real[100, 1]; z: real[100, 1]; u: real[1, 100]; v: real[1, 100]; }
    @compose {
        y = math.max_reduce{axes = [1]}(a);
        z = math.min_reduce{axes = [1]}(a);
        u = math.max_reduce{axes = [0]}(a);
        v = math.min_reduce{axes = [0]}(a);
    }
})";
    const auto state = load_text(text);
    ASSERT_TRUE(state);
    Array a = *Array::zeros(tensor::DType::F32, {100, 100});
    for (size_t i = 0; i < 100; ++i) {
        for (size_t k = 0; k < 100; ++k) a.reals[i * 100 + k] = static_cast<double>(i + k);
        if (i % 2 == 0) a.reals[i * 100 + i] = std::numeric_limits<double>::quiet_NaN();
    }
    auto engine = Engine::create(*state, {.verify = true});
    ASSERT_TRUE(engine);
    const auto got = (*engine)->run({{"a", {a}}});
    ASSERT_TRUE(got) << got.error().message;
    for (const auto& [name, items] : *got) {
        for (size_t i = 0; i < 100; ++i) {
            EXPECT_EQ(std::isnan(items[0].reals[i]), i % 2 == 0) << name << i;
        }
    }
}

// The same bits in every run, with any number of threads.
TEST(Engine, IsDeterministic) {
    const std::string text = conv_model(kConvs[0], "        y = nn.relu(z);");
    std::vector<double> first;
    for (const int threads : {1, 2, 3, 1}) {
        const auto state = load_text(text);
        ASSERT_TRUE(state);
        NamedArrays inputs;
        ASSERT_TRUE(session::add_random_inputs(state->program(), 3, inputs));
        auto engine = Engine::create(*state, {.verify = true, .threads = threads});
        ASSERT_TRUE(engine);
        for (int run = 0; run < 3; ++run) {
            const auto got = (*engine)->run(inputs);
            ASSERT_TRUE(got);
            if (first.empty()) first = got->at("y")[0].reals;
            EXPECT_EQ(got->at("y")[0].reals, first);
        }
    }
}

// An index that leaves its tensor is an error, not a crash; the interpreter has the message.
TEST(Engine, ReportsBadIndices) {
    const auto state = load_text(R"(
operator pick {
    @input { x: real[n]; i: int[m]; }
    @output { y: real[m]; }
    @lower { y[k,] = x[i[k,],], k < m; }
}
graph G {
    @input { x: real[40]; i: int[20]; }
    @output { y: real[20]; }
    @compose { y = pick(x, i); }
})");
    ASSERT_TRUE(state);
    auto engine = Engine::create(*state, {.verify = true});
    ASSERT_TRUE(engine);
    NamedArrays inputs;
    ASSERT_TRUE(session::add_random_inputs(state->program(), 3, inputs));
    EXPECT_TRUE((*engine)->run(inputs));
    inputs["i"][0].integers[18] = 40;
    EXPECT_FALSE((*engine)->run(inputs));
    const auto bad = run_interpreter(*state, inputs);
    ASSERT_FALSE(bad);
    EXPECT_NE(bad.error().message.find("index 40 of `x`"), std::string::npos)
        << bad.error().message;
    inputs["i"][0].integers[18] = -1;
    EXPECT_FALSE((*engine)->run(inputs));
}

// ---- Functions ----------------------------------------------------------------------------------

double ulp_error(float got, double want) {
    if (std::isnan(want)) return std::isnan(got) ? 0 : HUGE_VAL;
    const auto nearest = static_cast<float>(want);
    if (std::isinf(nearest) || nearest == 0) {
        return got == nearest || std::fabs(got) == 0 ? 0 : HUGE_VAL;
    }
    const double unit = std::max(std::ldexp(1.0, std::ilogb(nearest) - 23), 0x1p-149);
    return std::fabs(static_cast<double>(got) - want) / unit;
}

TEST(Engine, FunctionsAreWithinTheirBounds) {
    struct Function {
        const char* name;
        double (*exact)(double);
        double bound;
    };
    const Function functions[] = {{"exp", [](double x) { return std::exp(x); }, 1.5},
                                  {"log", [](double x) { return std::log(x); }, 1.5},
                                  {"tanh", [](double x) { return std::tanh(x); }, 2.5},
                                  {"erf", [](double x) { return std::erf(x); }, 2.5}};
    std::vector<double> values = {
        0.0, -0.0, HUGE_VAL, -HUGE_VAL, std::nan(""), 1e-40, -1e-40, 88.9};
    for (uint32_t bits = 0; bits < 0x7F800000u; bits += 0x1F3D7) {
        const auto value = static_cast<double>(std::bit_cast<float>(bits));
        values.push_back(value);
        values.push_back(-value);
    }
    // Closer together from 2^-6 to 2^7, where results are neither tiny nor constant.
    for (uint32_t bits = 0x3C800000u; bits < 0x43000000u; bits += 0x7A3) {
        const auto value = static_cast<double>(std::bit_cast<float>(bits));
        values.push_back(value);
        values.push_back(-value);
    }
    for (const Function& function : functions) {
        const auto state = load_text(fmt::format(R"(operator apply {{
    @input {{ x: real[n]; }}
    @output {{ y: real[n]; }}
    @lower {{ y[i,] = {1}(x[i,]), i < n; }}
}}
graph G {{
    @input {{ x: real[{0}]; }}
    @output {{ y: real[{0}]; }}
    @compose {{ y = apply(x); }}
}})",
                                                 values.size(),
                                                 function.name));
        ASSERT_TRUE(state);
        auto engine = Engine::create(*state, {.verify = true});
        ASSERT_TRUE(engine);
        Array x = *Array::zeros(tensor::DType::F32, {static_cast<int64_t>(values.size())});
        x.reals = values;
        x.round();
        const auto got = (*engine)->run({{"x", {x}}});
        ASSERT_TRUE(got) << got.error().message;
        double worst = 0;
        for (size_t i = 0; i < values.size(); ++i) {
            const auto y = static_cast<float>(got->at("y")[0].reals[i]);
            const double error = ulp_error(y, function.exact(x.reals[i]));
            EXPECT_LE(error, function.bound) << function.name << "(" << x.reals[i] << ") = " << y;
            worst = std::max(worst, error);
            if (error > function.bound) break;
        }
        RecordProperty(std::string("ulp_") + function.name, fmt::format("{:.3f}", worst));
    }
}

// All pairs of numbers of all sizes and signs, and the special ones.
TEST(Engine, PowersAreWithinTheirBounds) {
    std::vector<double> numbers = {0.0,
                                   -0.0,
                                   1,
                                   -1,
                                   HUGE_VAL,
                                   -HUGE_VAL,
                                   std::nan(""),
                                   2,
                                   -2,
                                   3,
                                   -3,
                                   0.5,
                                   -0.5,
                                   0.75,
                                   1e-40,
                                   -1e-40,
                                   16777216,
                                   -16777217,
                                   1e30};
    for (uint32_t bits = 0x1000; bits < 0x7F800000u; bits += 0x723457) {
        numbers.push_back(static_cast<double>(std::bit_cast<float>(bits)));
        numbers.push_back(-numbers.back());
    }
    for (double x = 0.9; x < 1.1; x += 0.0073) numbers.push_back(x);
    for (double x = -40; x < 40; x += 1.37) numbers.push_back(x);
    const auto count = static_cast<int64_t>(numbers.size());
    const auto state = load_text(fmt::format(R"(operator raise {{
    @input {{ x: real[n]; y: real[m]; }}
    @output {{ z: real[n, m]; }}
    @lower {{ z[i, j] = x[i,] ** y[j,], i < n, j < m; }}
}}
graph G {{
    @input {{ x: real[{0}]; y: real[{0}]; }}
    @output {{ z: real[{0}, {0}]; }}
    @compose {{ z = raise(x, y); }}
}})",
                                             count));
    ASSERT_TRUE(state);
    auto engine = Engine::create(*state, {.verify = true});
    ASSERT_TRUE(engine);
    Array x = *Array::zeros(tensor::DType::F32, {count});
    x.reals = numbers;
    x.round();
    const auto got = (*engine)->run({{"x", {x}}, {"y", {x}}});
    ASSERT_TRUE(got) << got.error().message;
    double worst = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
        for (size_t j = 0; j < numbers.size(); ++j) {
            const double want = std::pow(x.reals[i], x.reals[j]);
            const auto z = static_cast<float>(got->at("z")[0].reals[i * numbers.size() + j]);
            const double error = ulp_error(z, want);
            ASSERT_LE(error, 1.5) << x.reals[i] << " ** " << x.reals[j] << " = " << z;
            ASSERT_TRUE(z == 0 || std::isnan(z) || std::signbit(z) == std::signbit(want))
                << x.reals[i] << " ** " << x.reals[j] << " = " << z;
            worst = std::max(worst, error);
        }
    }
    RecordProperty("ulp_pow", fmt::format("{:.3f}", worst));
}

}  // namespace
}  // namespace lemma
