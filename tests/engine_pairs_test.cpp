// SPDX-License-Identifier: Apache-2.0
// Reductions over pairs of rows, such as distances. Compiled code computes squared distances from
// products where that is exact enough.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/engine.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using engine::Engine;
using engine::EngineOptions;
using interpret::NamedArrays;
using loop::Numerics;
using testing_support::load_text;
using testing_support::random_inputs;
using testing_support::run_interpreter;

constexpr const char* kModel = R"(import math;
operator distances {
    @input { x: real[n, d]; y: real[m, d]; }
    @output { z: real[n, m]; }
    @lower { z[i, j] += (x[i, k] - y[j, k]) ** 2.0, i < n, j < m, k < d; }
}
graph G {
    @input { a: real[37, 29]; b: real[45, 29]; }
    @output { z: real[37, 45]; r: real[37, 45]; s: real[37, 37]; }
    @variable { w: real[45, 29]; }
    @compose {
        z = distances(a, b);
        t = distances(a, w);
        r = math.sqrt(t);
        s = distances(a, a);
    }
})";

NamedArrays inputs() { return random_inputs(load_text(kModel)->program()); }

struct Ran {
    NamedArrays outputs;
    std::string dumped;
};

Ran run(const NamedArrays& inputs, EngineOptions options, const char* model = kModel) {
    const auto state = load_text(model);
    options.verify = true;
    options.dump_pass = "pack";
    auto engine = Engine::create(*state, std::move(options));
    EXPECT_TRUE(engine) << engine.error().message;
    if (!engine) return {};
    auto outputs = (*engine)->run(inputs);
    EXPECT_TRUE(outputs) << outputs.error().message;
    if (!outputs) return {};
    return {std::move(*outputs), (*engine)->dumped()};
}

// Relative to each element, so that small ones count as much as large ones.
double largest_error(const NamedArrays& got, const NamedArrays& want) {
    double error = 0;
    for (const auto& [name, items] : want) {
        const std::vector<double>& values = got.at(name)[0].reals;
        for (size_t i = 0; i < values.size(); ++i) {
            const double exact = items[0].reals[i];
            if (!std::isfinite(exact)) {
                EXPECT_EQ(std::isnan(values[i]), std::isnan(exact)) << name << i;
                EXPECT_EQ(std::isinf(values[i]), std::isinf(exact)) << name << i;
                continue;
            }
            const double difference = std::fabs(values[i] - exact);
            if (difference > 0) error = std::fmax(error, difference / std::fabs(exact));
        }
    }
    return error;
}

NamedArrays oracle(const NamedArrays& inputs) {
    auto want = run_interpreter(*load_text(kModel), inputs);
    EXPECT_TRUE(want);
    return want ? std::move(*want) : NamedArrays();
}

TEST(EngineDistances, AreMadeOfProducts) {
    const NamedArrays given = inputs();
    for (const int threads : {1, 2}) {
        const Ran ran = run(given, {.threads = threads});
        EXPECT_NE(ran.dumped.find("squares"), std::string::npos) << ran.dumped;
        EXPECT_LT(largest_error(ran.outputs, oracle(given)), 2e-6);
        // The distance of a row from itself is zero.
        for (size_t i = 0; i < 37; ++i) EXPECT_EQ(ran.outputs.at("s")[0].reals[i * 38], 0);
    }
}

TEST(EngineDistances, AreAsWrittenWhereStrict) {
    const NamedArrays given = inputs();
    const Ran ran = run(given, {.compiler = {.numerics = Numerics::Strict}});
    EXPECT_EQ(ran.dumped.find("squares"), std::string::npos) << ran.dumped;
    EXPECT_EQ(largest_error(ran.outputs, oracle(given)), 0);
}

// Digits cancel where rows nearly agree. Fast numerics accept the error, but no distance is
// negative.
TEST(EngineDistances, OfNearRowsAreAddedUp) {
    NamedArrays given = inputs();
    for (double& value : given.at("a")[0].reals) value = static_cast<float>(1000 + value / 64);
    for (double& value : given.at("b")[0].reals) value = static_cast<float>(1000 + value / 64);
    const Ran ran = run(given, {.threads = 2});
    EXPECT_LT(largest_error(ran.outputs, oracle(given)), 2e-6);
    const Ran fast = run(given, {.threads = 2, .compiler = {.numerics = Numerics::Fast}});
    EXPECT_NE(fast.dumped.find("squares"), std::string::npos) << fast.dumped;
    EXPECT_GT(largest_error(fast.outputs, oracle(given)), 1e-2);
    for (const double value : fast.outputs.at("s")[0].reals) EXPECT_GE(value, 0);
}

// Some rows near, some far.
TEST(EngineDistances, OfOneNearRowAreAddedUp) {
    NamedArrays given = inputs();
    std::vector<double>& a = given.at("a")[0].reals;
    std::vector<double>& b = given.at("b")[0].reals;
    for (size_t k = 0; k < 29; ++k) b[11 * 29 + k] = static_cast<float>(a[30 * 29 + k] * 1.0001);
    const Ran ran = run(given, {});
    EXPECT_LT(largest_error(ran.outputs, oracle(given)), 2e-6);
}

TEST(EngineDistances, OfLargeAndInfiniteNumbers) {
    NamedArrays given = inputs();
    std::vector<double>& a = given.at("a")[0].reals;
    std::vector<double>& b = given.at("b")[0].reals;
    const double large = 1.5e19F;  // the squares of two overflow a float
    for (size_t k = 0; k < 29; ++k) a[3 * 29 + k] = b[7 * 29 + k] = k == 5 ? large : 0;
    a[8 * 29] = std::numeric_limits<double>::infinity();
    b[8 * 29] = -std::numeric_limits<double>::infinity();
    b[40 * 29 + 28] = std::numeric_limits<double>::quiet_NaN();
    const Ran ran = run(given, {.threads = 2});
    EXPECT_LT(largest_error(ran.outputs, oracle(given)), 2e-6);
    EXPECT_EQ(ran.outputs.at("z")[0].reals[3 * 45 + 7], 0);
}

// Any function of two elements instead of a product, a third element beside them, and a maximum or
// minimum instead of a sum.
constexpr const char* kPairs = R"(
operator manhattan {
    @input { x: real[n, d]; y: real[m, d]; }
    @output { z: real[n, m]; }
    @lower { z[i, j] += `abs`(x[i, k] - y[j, k]), i < n, j < m, k < d; }
}
operator chebyshev {
    @input { x: real[n, d]; y: real[m, d]; }
    @output { z: real[n, m]; }
    @lower { z[i, j] = 0.0, i < n, j < m; z[i, j] >= `abs`(x[i, k] - y[j, k]), i < n, j < m, k < d; }
}
operator shortest {
    @input { x: real[n, d]; y: real[m, d]; }
    @output { z: real[n, m]; }
    @lower { z[i, j] = 1000.0, i < n, j < m; z[i, j] <= x[i, k] * y[j, k], i < n, j < m, k < d; }
}
operator weighted {
    @input { x: real[n, d]; y: real[m, d]; w: real[d]; }
    @output { z: real[n, m]; }
    @lower { z[i, j] += (x[i, k] - y[j, k]) ** 2.0 * w[k,], i < n, j < m, k < d; }
}
graph G {
    @input { a: real[37, 29]; b: real[45, 29]; c: real[29]; }
    @output { s: real[37, 45]; t: real[37, 45]; u: real[37, 45]; v: real[37, 45]; }
    @compose {
        s = manhattan(a, b);
        t = chebyshev(a, b);
        u = shortest(a, b);
        v = weighted(a, b, c);
    }
})";

TEST(EnginePairs, AreTiled) {
    NamedArrays given = random_inputs(load_text(kPairs)->program());
    given.at("a")[0].reals[11 * 29 + 3] = std::numeric_limits<double>::quiet_NaN();
    given.at("b")[0].reals[31 * 29 + 4] = std::numeric_limits<double>::infinity();
    const auto want = run_interpreter(*load_text(kPairs), given);
    ASSERT_TRUE(want);
    for (const int threads : {1, 2}) {
        const Ran ran = run(given, {.threads = threads}, kPairs);
        size_t tiled = 0;
        for (size_t at = 0; (at = ran.dumped.find("  pairs: ", at)) != std::string::npos; ++at)
            ++tiled;
        EXPECT_EQ(tiled, 4U) << ran.dumped;
        EXPECT_LT(largest_error(ran.outputs, *want), 2e-6);
    }
}

}  // namespace
}  // namespace lemma
