// SPDX-License-Identifier: Apache-2.0
// Softmax, normalisations and similar models: the number of kernels, and agreement with the
// interpreter, for rows around the edges of vectors, along all axes, with special values.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
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

// The kernels of a run, without those for weights.
size_t count_kernels(const loop::Plan& plan) {
    size_t kernels = 0;
    for (const loop::PlanStep& step : plan.steps) {
        kernels += !step.once && step.kernel();
    }
    return kernels;
}

// The outputs of a compiled run, and the number of its kernels.
NamedArrays run_compiled(const std::string& text,
                         const NamedArrays& inputs,
                         int threads,
                         size_t& kernels) {
    const auto own = load_text(text);
    if (!own) return {};
    auto engine = Engine::create(*own, {.verify = true, .threads = threads});
    EXPECT_TRUE(engine);
    if (!engine) return {};
    auto got = (*engine)->run(inputs);
    EXPECT_TRUE(got) << got.error().message;
    kernels = count_kernels((*engine)->plan());
    return got ? *got : NamedArrays{};
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// The interpreter and compiled code agree; one thread and two give the same bits.
void compare(const std::string& text, const NamedArrays& inputs, size_t kernels) {
    const auto oracle = load_text(text);
    ASSERT_TRUE(oracle);
    const auto want = run_interpreter(*oracle, inputs);
    ASSERT_TRUE(want) << want.error().message;
    size_t found = 0;
    const NamedArrays one = run_compiled(text, inputs, 1, found);
    const NamedArrays two = run_compiled(text, inputs, 2, found);
    EXPECT_EQ(found, kernels) << text;
    for (const auto& [name, items] : *want) {
        ASSERT_TRUE(one.contains(name) && two.contains(name));
        const Array& a = one.at(name)[0];
        const Array& b = two.at(name)[0];
        const Array& c = items[0];
        ASSERT_EQ(a.shape, c.shape);
        ASSERT_EQ(a.integers, c.integers) << name;
        ASSERT_EQ(b.integers, c.integers) << name;
        double largest = 1;
        for (const double value : c.reals) {
            if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
        }
        for (size_t i = 0; i < c.reals.size(); ++i) {
            ASSERT_TRUE(same(a.reals[i], b.reals[i])) << name << "[" << i << "]";
            const bool near = std::fabs(a.reals[i] - c.reals[i]) <= 1e-5 * largest;
            ASSERT_TRUE(near || same(a.reals[i], c.reals[i]))
                << name << "[" << i << "]: " << a.reals[i] << ", not " << c.reals[i] << "\n"
                << text;
        }
    }
}

void compare(const std::string& text, size_t kernels) {
    const auto model = load_text(text);
    ASSERT_TRUE(model);
    NamedArrays inputs;
    ASSERT_TRUE(session::add_random_inputs(model->program(), 3, inputs));
    compare(text, inputs, kernels);
}

std::string model(const std::string& shape, const std::string& body) {
    return fmt::format(R"(import nn; import math; import layout;
graph G {{ @input {{ x: real[{0}]; }} @output {{ y: real[{0}]; }} @compose {{ {1} }} }})",
                       shape,
                       body);
}

TEST(EngineRows, SoftmaxIsOneKernel) {
    for (const char* shape :
         {"8, 5", "3, 16", "17, 33", "64, 100", "9, 129", "12, 7, 64", "1, 1000"}) {
        compare(model(shape, "y = nn.softmax{axes = [-1]}(x);"), 1);
        compare(model(shape, "y = nn.log_softmax{axes = [-1]}(x);"), 1);
    }
}

TEST(EngineRows, SoftmaxOverOtherAxes) {
    for (const char* shape : {"1, 21, 20, 20", "2, 5, 3, 9", "3, 40, 17, 1"}) {
        compare(model(shape, "y = nn.softmax{axes = [1]}(x);"), 1);
        compare(model(shape, "y = nn.softmax{axes = [0]}(x);"), 1);
        compare(model(shape, "y = nn.softmax{axes = [1, 3]}(x);"), 1);
        compare(model(shape, "y = nn.softmax{axes = [2, 3]}(x);"), 1);
    }
}

TEST(EngineRows, NormalisationsAreOneKernel) {
    for (const char* shape : {"8, 16, 7, 9", "16, 9, 33, 5", "1, 8, 56, 56"}) {
        for (const char* call : {"nn.l1_norm{axes = [-1]}(x)",
                                 "nn.l2_norm{axes = [-1], epsilon = 0.001}(x)",
                                 "nn.l2_norm{axes = [1]}(x)",
                                 "nn.layer_norm(x)",
                                 "nn.layer_norm{axis = 2}(x)",
                                 "nn.rms_norm(x)",
                                 "nn.instance_norm(x)",
                                 "nn.mean_variance_norm{axes = [1, 2, 3]}(x)"}) {
            // The mean over all but a few axes has too few rows to share.
            const bool all = std::string(call).contains("[1, 2, 3]");
            const bool few = all && std::string(shape) == "1, 8, 56, 56";
            compare(model(shape, fmt::format("y = {};", call)), few ? 3 : 1);
        }
    }
}

TEST(EngineRows, GroupsOfChannelsWithScales) {
    compare(R"(import nn;
graph G {
    @input { x: real[2, 24, 7, 9]; }
    @output { y: real[2, 24, 7, 9]; }
    @variable { b: real[24]; s: real[24]; }
    @compose { y = nn.group_norm{groups = 6}(x, b, s); }
})",
            1);
}

// All threads share one long row: a sum is one piece of work, a map is not.
TEST(EngineRows, ALongRowIsSharedByThreads) {
    const std::string text = model("1, 40000", "y = nn.softmax{axes = [-1]}(x);");
    compare(text, 4);
    const auto own = load_text(text);
    ASSERT_TRUE(own);
    const loop::Plan plan = loop::make_plan(own->program(), {}, {});
    int64_t most = 0;
    for (const loop::PlanStep& step : plan.steps) {
        if (step.kernel()) most = std::max(most, step.kernel()->function.items);
    }
    EXPECT_GT(most, 1);
}

// Rows that exceed the cache stay apart, but the summed elements are stored in the same pass.
TEST(EngineRows, LongRowsAreThreePasses) {
    compare(model("16, 100000", "y = nn.softmax{axes = [-1]}(x);"), 3);
}

// Long sums add sections of floats in double. Equal elements show every rounding of the sum.
TEST(EngineRows, LongSumsAreExactEnough) {
    for (const int64_t length : {4097, 4160, 5003, 8191, 100003}) {
        const std::string text = fmt::format(R"(import math;
graph G {{ @input {{ x: real[9, {}]; }} @output {{ y: real[9, 1]; }}
    @compose {{ y = math.sum_reduce{{axes = [-1]}}(x); }} }})",
                                             length);
        Array x = *Array::zeros(tensor::DType::F32, {9, length});
        const double tenth = static_cast<double>(0.1F);
        std::ranges::fill(x.reals, tenth);
        size_t kernels = 0;
        const NamedArrays got = run_compiled(text, {{"x", {x}}}, 1, kernels);
        ASSERT_TRUE(got.contains("y"));
        const double want = tenth * static_cast<double>(length);
        for (const double sum : got.at("y")[0].reals) EXPECT_NEAR(sum, want, 4e-7 * want);
    }
}

// Numbers and rows of the kernel that other kernels read, too.
TEST(EngineRows, WhatOthersReadHasMemory) {
    const std::string head = R"(import nn; import math;
graph G {
    @input { x: real[40, 50]; }
    @output { y: real[40, 50]; m: real[40, 1]; e: real[40, 50]; z: real[40, 50]; }
    @compose {
        m = math.max_reduce{axes = [1]}(x);
        d = math.sub(x, m);
        e = math.exp(d);
        s = math.sum_reduce{axes = [1]}(e);
        y = math.div(e, s);
)";
    compare(head + "z = math.add(y, s); } }", 1);
    // Another axis: all rows of the sum are needed first.
    compare(head + R"(
        t = math.sum_reduce{axes = [0]}(y);
        z = math.div(y, t);
    } })",
            2);
}

// Numbers computed from numbers; the variance as the difference of two means.
TEST(EngineRows, NumbersOfNumbers) {
    for (const int axis : {0, 1, 2}) {
        compare(model("20, 33, 24",
                      fmt::format(R"(
            m = math.mean_reduce{{axes = [{0}]}}(x);
            q = math.sqr(m);
            p = math.sqr(x);
            n = math.mean_reduce{{axes = [{0}]}}(p);
            v = math.sub(n, q);
            e = math.add(v, 0.01);
            d = math.sqrt(e);
            r = math.rcp(d);
            c = math.sub(x, m);
            z = math.mul(c, r);
            y = math.add(z, q);)",
                                  axis)),
                1);
    }
}

// A view of a row's number has another name; its reader must still wait for the number.
TEST(EngineRows, ViewsOfNumbersWait) {
    compare(R"(import math; import layout;
graph G {
    @input { x: real[6, 33]; }
    @output { m: real[6, 1]; v: real[6]; y: real[6, 1]; n: real[6]; z: real[6, 33]; }
    @compose {
        m = math.max_reduce{axes = [1]}(x);
        v = layout.squeeze{axes = [1]}(m);
        w = layout.unsqueeze{axes = [1]}(v);
        y = math.add(m, w);
        n = math.neg(v);
        z = math.sub(x, m);
    }
})",
            4);
}

// A number of one row must not replace the number of another row at the same position.
TEST(EngineRows, ReadsOfOtherRowsStayApart) {
    compare(R"(import math; import layout;
graph G {
    @input { x: real[24, 24]; }
    @output { y: real[24, 24]; z: real[24, 24]; }
    @compose {
        s = math.sum_reduce{axes = [1]}(x);
        t = layout.transpose{perm = [1, 0]}(s);
        y = math.div(x, t);
        e = math.exp(x);
        p = math.sum_reduce{axes = [1]}(e);
        r = layout.transpose{perm = [1, 0]}(e);
        z = math.div(r, p);
    }
})",
            4);
}

// A stage that writes across the rows has a separate kernel.
TEST(EngineRows, ResultsInAnotherOrder) {
    compare(R"(import math; import layout; import nn;
graph G {
    @input { x: real[9, 20, 33]; }
    @output { y: real[33, 9, 20]; }
    @compose {
        n = nn.softmax{axes = [-1]}(x);
        t = layout.transpose{perm = [2, 0, 1]}(n);
        y = math.mul(t, 2.0);
    }
})",
            2);
}

TEST(EngineRows, AttentionBetweenProducts) {
    compare(R"(import linalg; import math; import nn;
graph G {
    @input { q: real[2, 3, 40, 16]; k: real[2, 3, 40, 16]; v: real[2, 3, 40, 16]; mask: real[40, 40]; }
    @output { y: real[2, 3, 40, 16]; }
    @compose {
        s = linalg.matmul{transB = true}(q, k);
        c = math.mul(s, 0.25);
        m = math.add{rhs_align = 2}(c, mask);
        p = nn.softmax{axes = [-1]}(m);
        y = linalg.matmul(p, v);
    }
})",
            5);
}

TEST(EngineRows, ValuesThatAreNotFinite) {
    const double inf = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const int64_t length : {7, 100, 300}) {
        Array x = *Array::zeros(tensor::DType::F32, {8, length});
        for (size_t i = 0; i < x.reals.size(); ++i) x.reals[i] = static_cast<double>(i % 13) - 6;
        const auto row = [&](int64_t r, int64_t at) -> double& {
            return x.reals[static_cast<size_t>(r * length + at)];
        };
        row(0, length - 1) = nan;
        row(1, 2) = nan;
        row(2, 3) = inf;
        row(3, 3) = -inf;
        for (int64_t i = 0; i < length; ++i) row(4, i) = -inf;
        for (int64_t i = 0; i < length; ++i) row(5, i) = i % 2 == 0 ? 0.0 : -0.0;
        row(6, 0) = 1e38;
        const std::string shape = fmt::format("8, {}", length);
        for (const char* call : {"nn.softmax{axes = [-1]}(x)",
                                 "nn.log_softmax{axes = [-1]}(x)",
                                 "nn.l2_norm{axes = [-1]}(x)",
                                 "nn.l1_norm{axes = [-1]}(x)"}) {
            compare(model(shape, fmt::format("y = {};", call)), {{"x", {x}}}, 1);
        }
        // Maxima and minima along the lanes keep a nan.
        compare(
            model(shape, R"(a = math.max_reduce{axes = [1]}(x); b = math.min_reduce{axes = [1]}(x);
            c = math.sub(a, b); y = math.add(x, c);)"),
            {{"x", {x}}},
            1);
    }
}

TEST(EngineRows, InLoops) {
    compare(R"(import math; import nn;
graph G {
    @input { x: real[20, 30]; }
    @output { y: real[20, 30]; }
    @compose {
        y = with p = x do..(5) {
            n = nn.softmax{axes = [-1]}(p);
            q = math.add(n, x);
            yield q;
        };
    }
})",
            1);
}

// Fused values stay short enough to compile: the time to plan a chain is linear.
TEST(EngineRows, LongChainsAreSeveralKernels) {
    std::string body = "t0 = math.sin(x);";
    for (int i = 1; i < 1000; ++i) {
        body += fmt::format("t{} = math.{}(t{});", i, i % 2 ? "neg" : "sin", i - 1);
    }
    compare(model("64", body + "y = math.neg(t999);"), 5);
}

// Many numbers divided by one have the bits of quotients, unless they are tiny.
TEST(EngineRows, QuotientsByOneNumber) {
    const std::vector<double> divisors = {3,
                                          7,
                                          41,
                                          49,
                                          -0.1,
                                          1e-40,
                                          -1e-40,
                                          3e38,
                                          -2e38,
                                          1.2e-38,
                                          0x1p-126,
                                          1.999,
                                          1e-30,
                                          1e30,
                                          32000,
                                          0,
                                          -0.0,
                                          HUGE_VAL,
                                          std::nan("")};
    const auto rows = static_cast<int64_t>(divisors.size());
    constexpr int64_t kColumns = 4000;
    const auto state = load_text(fmt::format(R"(operator divide {{
    @input {{ x: real[m, n]; c: real[m]; }}
    @output {{ y: real[m, n]; }}
    @lower {{ y[i, j] = x[i, j] / c[i,], i < m, j < n; }}
}}
graph G {{
    @input {{ x: real[{0}, {1}]; c: real[{0}]; }}
    @output {{ y: real[{0}, {1}]; }}
    @compose {{ y = divide(x, c); }}
}})",
                                             rows,
                                             kColumns));
    ASSERT_TRUE(state);
    Array x = *Array::zeros(tensor::DType::F32, {rows, kColumns});
    Array c = *Array::zeros(tensor::DType::F32, {rows});
    c.reals = divisors;
    c.round();
    for (int64_t i = 0; i < rows * kColumns; ++i) {
        const int64_t column = i % kColumns;
        const auto bits = static_cast<uint32_t>(i) * 2654435761U;
        double& value = x.reals[static_cast<size_t>(i)];
        value = static_cast<double>(std::bit_cast<float>(bits));
        if (column % 3 == 0) value = std::ldexp(1 + std::ldexp(bits & 0x7FFFFF, -23), column % 40);
        if (column < 100) value = static_cast<double>(column - 50) * c.reals[i / kColumns];
        if (column == 100) value = HUGE_VAL;
        if (column == 101) value = -HUGE_VAL;
        if (column == 102) value = -0.0;
    }
    x.round();
    auto engine = Engine::create(*state, {.verify = true});
    ASSERT_TRUE(engine);
    const auto got = (*engine)->run({{"x", {x}}, {"c", {c}}});
    ASSERT_TRUE(got) << got.error().message;
    for (int64_t i = 0; i < rows * kColumns; ++i) {
        const auto a = static_cast<float>(x.reals[static_cast<size_t>(i)]);
        const auto b = static_cast<float>(c.reals[static_cast<size_t>(i / kColumns)]);
        const float want = a / b;
        const auto y = static_cast<float>(got->at("y")[0].reals[static_cast<size_t>(i)]);
        SCOPED_TRACE(fmt::format("{} / {} = {}, not {}", a, b, y, want));
        if (std::isnan(want)) {
            ASSERT_TRUE(std::isnan(y));
        } else if (std::fabs(a) < 0x1p-100F || std::fabs(want) < 0x1p-100F) {
            const float up = std::nextafter(want, HUGE_VALF);
            const float down = std::nextafter(want, -HUGE_VALF);
            ASSERT_TRUE(y == want || y == up || y == down);
            ASSERT_TRUE(want != 0 || y != 0 || std::signbit(y) == std::signbit(want));
        } else {
            ASSERT_EQ(std::bit_cast<uint32_t>(y), std::bit_cast<uint32_t>(want));
        }
    }
}

}  // namespace
}  // namespace lemma
