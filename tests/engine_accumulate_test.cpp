// SPDX-License-Identifier: Apache-2.0
// Sums in float and in double: the interpreter and strict compiled code have the same bits.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "engine/engine.h"
#include "session/widen.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using interpret::Array;
using interpret::NamedArrays;
using ir::Accumulate;
using loop::Numerics;
using testing_support::load_text;
using testing_support::random_inputs;

// As a session prepares it.
std::unique_ptr<interpret::State> load(const std::string& text,
                                       Accumulate accumulate,
                                       ir::DType real) {
    return load_text(text, testing_support::large_weight, real, [&](ir::Program& program) {
        if (accumulate == Accumulate::F64) session::widen_inner_tensors(program);
    });
}

NamedArrays interpreted(const std::string& text, Accumulate accumulate, ir::DType real) {
    const auto state = load(text, accumulate, real);
    if (!state) return {};
    const NamedArrays inputs = random_inputs(state->program());
    auto outputs = interpret::Interpreter(*state, {.accumulate = accumulate}).run(inputs);
    EXPECT_TRUE(outputs) << outputs.error().message;
    return outputs ? std::move(*outputs) : NamedArrays();
}

NamedArrays compiled(const std::string& text, Accumulate accumulate, ir::DType real) {
    const auto state = load(text, accumulate, real);
    if (!state) return {};
    const NamedArrays inputs = random_inputs(state->program());
    auto engine = engine::Engine::create(*state,
                                         {.verify = true,
                                          .threads = 2,
                                          .run = {.accumulate = accumulate},
                                          .weights = {},
                                          .compiler = {.numerics = Numerics::Strict}});
    EXPECT_TRUE(engine) << engine.error().message;
    if (!engine) return {};
    auto outputs = (*engine)->run(inputs);
    EXPECT_TRUE(outputs) << outputs.error().message;
    for (const loop::PlanStep& step : (*engine)->plan().steps) {
        const auto* const left = std::get_if<loop::InterpretedStep>(&step.kind);
        EXPECT_FALSE(left) << step.label << ": " << left->why;
    }
    return outputs ? std::move(*outputs) : NamedArrays();
}

// The number of elements with other bits.
size_t differences(const NamedArrays& a, const NamedArrays& b) {
    size_t count = 0;
    EXPECT_EQ(a.size(), b.size());
    for (const auto& [name, items] : a) {
        for (size_t k = 0; k < items.size(); ++k) {
            const Array& other = b.at(name)[k];
            EXPECT_EQ(items[k].shape, other.shape);
            EXPECT_EQ(items[k].integers, other.integers);
            for (size_t i = 0; i < items[k].reals.size(); ++i) {
                const double x = items[k].reals[i], y = other.reals[i];
                count += std::bit_cast<uint64_t>(x) != std::bit_cast<uint64_t>(y) &&
                         !(std::isnan(x) && std::isnan(y));
            }
        }
    }
    return count;
}

// Each sum has `taps` products of the elements of a row of `a` with those of `b`.
std::string sums(int64_t rows, int64_t taps) {
    return "import linalg; graph G { @input { a: real[" + std::to_string(rows) + ", " +
           std::to_string(taps) + "]; b: real[" + std::to_string(taps) +
           ", 1]; } @output { y: real[" + std::to_string(rows) +
           ", 1]; } @compose { y = linalg.matmul(a, b); } }";
}

// By a loop of float operations, which `volatile` keeps apart.
std::vector<float> float_sums(const Array& a, const Array& b) {
    std::vector<float> result;
    const size_t taps = b.reals.size();
    for (size_t row = 0; row < a.reals.size() / taps; ++row) {
        volatile float sum = 0;
        for (size_t k = 0; k < taps; ++k) {
            const volatile float x = static_cast<float>(a.reals[row * taps + k]);
            const volatile float y = static_cast<float>(b.reals[k]);
            const volatile float product = x * y;
            sum = sum + product;
        }
        result.push_back(float{sum});
    }
    return result;
}

TEST(Accumulate, FloatSumsAreLoopsOfFloatAdditions) {
    constexpr int64_t kSums = 4000;
    const std::string text = sums(kSums, 144);
    const auto state = load_text(text);
    ASSERT_TRUE(state);
    const NamedArrays inputs = random_inputs(state->program());
    const std::vector<float> want = float_sums(inputs.at("a")[0], inputs.at("b")[0]);
    ASSERT_EQ(want.size(), 4000U);
    const NamedArrays in_float = interpreted(text, Accumulate::F32, ir::DType::F32);
    const NamedArrays code = compiled(text, Accumulate::F32, ir::DType::F32);
    const NamedArrays in_double = interpreted(text, Accumulate::F64, ir::DType::F32);
    int others = 0;
    for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_EQ(in_float.at("y")[0].reals[i], want[i]) << i;
        ASSERT_EQ(code.at("y")[0].reals[i], want[i]) << i;
        others += in_double.at("y")[0].reals[i] != want[i];
    }
    EXPECT_GT(others, kSums / 2);
}

// More steps than from where other modes add in double.
TEST(Accumulate, LongFloatSumsAreFloatSums) {
    const std::string text = sums(5, 10000);
    const auto state = load_text(text);
    ASSERT_TRUE(state);
    const NamedArrays inputs = random_inputs(state->program());
    const std::vector<float> want = float_sums(inputs.at("a")[0], inputs.at("b")[0]);
    const NamedArrays code = compiled(text, Accumulate::F32, ir::DType::F32);
    for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(code.at("y")[0].reals[i], want[i]) << i;
}

struct Model {
    const char* name;
    const char* text;
};

constexpr Model kModels[] = {
    {"convolution", R"(import nn; import math;
graph G {
    @input { x: real[1, 5, 13, 11]; }
    @output { y: real[1, 8, 13, 11]; z: real[1, 8, 13, 11]; a: real[1, 8, 13, 11]; }
    @variable { w: real[8, 5, 3, 3]; b: real[8]; m: real[8]; v: real[8]; s: real[8]; o: real[8]; }
    @compose {
        c = nn.conv{padding = [1, 1, 1, 1]}(x, w, b);
        n = nn.batch_norm{epsilon = 0.001}(c, m, v, o, s);
        y = nn.relu(n);
        z = nn.max_pool{axes = [2, 3], size = [3, 3], stride = [1, 1], padding = [1, 1, 1, 1]}(c);
        a = nn.avg_pool{axes = [2, 3], size = [3, 3], stride = [1, 1], padding = [1, 1, 1, 1]}(c);
    }
})"},
    {"transposed", R"(import nn;
graph G {
    @input { x: real[1, 4, 7, 6]; }
    @output { y: real[1, 3, 15, 13]; }
    @variable { w: real[4, 3, 3, 3]; b: real[3]; }
    @compose { y = nn.deconv{stride = [2, 2], padding = [0, 0, 0, 0]}(x, w, b); }
})"},
    {"attention", R"(import nn; import math; import linalg;
graph G {
    @input { a: real[9, 37]; k: real[37, 21]; }
    @output { y: real[9, 21]; t: real[9, 21]; u: real[9, 21]; l: real[9]; g: real[9, 21]; }
    @compose {
        p = linalg.matmul(a, k);
        y = nn.softmax{axes = [-1]}(p);
        t = math.tanh(y);
        q = math.abs(p);
        u = math.pow(q, 1.7);
        l = math.sum_reduce{axes = [1], squeeze = true}(p);
        g = nn.gelu(p);
    }
})"},
    {"normalisation", R"(import nn; import math;
graph G {
    @input { x: real[3, 500]; }
    @output { y: real[3, 500]; m: real[3, 1]; e: real[3, 500]; }
    @variable { s: real[500]; o: real[500]; }
    @compose {
        m = math.mean_reduce{axes = [1]}(x);
        y = nn.layer_norm{axis = 1, epsilon = 0.001}(x, o, s);
        d = math.sub(x, m);
        e = math.mod(d, 0.3);
    }
})"},
    {"recurrent", R"(import nn;
graph G {
    @input { X: real[4, 2, 5]; }
    @output { Y: real[4, 2, 3]; hN: real[2, 3]; cN: real[2, 3]; }
    @variable { W: real[12, 5]; R: real[12, 3]; B: real[12]; }
    @compose { Y, hN, cN = nn.lstm(X, W, R, B); }
})"},
    {"several formulas", R"(
operator running {
    @input { x: real[n]; }
    @output { y: real[n]; z: real[n]; }
    @lower {
        y[i,] = x[i,], i < n;
        y[i,] += x[i,] * x[j,] / 3.0, i < n, j < n;
        z[i,] = y[i,], i < n;
        z[i + 1,] := z[i,] * 0.1 + y[i + 1,], i < n - 1;
    }
}
graph G {
    @input { x: real[50]; }
    @output { y: real[50]; z: real[50]; }
    @compose { y, z = running(x); }
})"},
};

class Accumulates : public ::testing::TestWithParam<ir::DType> {};

TEST_P(Accumulates, StrictHasTheBitsOfTheInterpreter) {
    for (const Model& model : kModels) {
        SCOPED_TRACE(model.name);
        const NamedArrays in_double = interpreted(model.text, Accumulate::F64, GetParam());
        const NamedArrays in_float = interpreted(model.text, Accumulate::F32, GetParam());
        // The last bits are lost in narrow results.
        if (GetParam() == ir::DType::F32) {
            EXPECT_GT(differences(in_double, in_float), 0U);
        }
        EXPECT_EQ(differences(compiled(model.text, Accumulate::F64, GetParam()), in_double), 0U);
        EXPECT_EQ(differences(compiled(model.text, Accumulate::F32, GetParam()), in_float), 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(Types,
                         Accumulates,
                         ::testing::Values(ir::DType::F32, ir::DType::F16, ir::DType::BF16),
                         [](const auto& type) { return std::string(dtype_name(type.param)); });

// Doubles stay doubles.
TEST(Accumulate, FormulasOfDoublesComputeInDouble) {
    for (const Model& model : kModels) {
        SCOPED_TRACE(model.name);
        const NamedArrays want = interpreted(model.text, Accumulate::F64, ir::DType::F64);
        EXPECT_EQ(differences(interpreted(model.text, Accumulate::F32, ir::DType::F64), want), 0U);
        EXPECT_EQ(differences(compiled(model.text, Accumulate::F32, ir::DType::F64), want), 0U);
    }
}

TEST(Accumulate, FloatNeedsStrictCode) {
    const auto state = load_text(sums(2, 3));
    ASSERT_TRUE(state);
    const auto engine = engine::Engine::create(*state, {.run = {.accumulate = Accumulate::F32}});
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().message, "compiled code adds in f32 only with strict numerics");
}

}  // namespace
}  // namespace lemma
