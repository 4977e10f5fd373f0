// SPDX-License-Identifier: Apache-2.0
// The interpreter on composed programs: every kind of formula, control flow, runtime extents,
// state. The comments derive the expected numbers by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

#include "diag/render.h"
#include "interpret/interpret.h"
#include "sknd/compose/compose.h"

namespace lemma {
namespace {

using interpret::Array;
using interpret::NamedArrays;

// The interpreter with its state.
class Interpreter {
public:
    explicit Interpreter(ir::Program program)
        : state_(std::make_unique<interpret::State>(std::move(program))) {}

    Result<NamedArrays> run(const NamedArrays& inputs) {
        return interpret::Interpreter(*state_).run(inputs);
    }
    Result<void> set_variable(const std::string& name, Array value) {
        return state_->set_variable(name, std::move(value));
    }

private:
    std::unique_ptr<interpret::State> state_;
};

Interpreter load(const std::string& text) {
    diag::SourceMap sources;
    Diagnostics diag;
    const auto file = sources.add("test.sknd", text);
    const auto package = sknd::load_package(sources, file, "main", sknd::no_reader(), {}, diag);
    sknd::check_types(package, {}, diag);
    auto program = sknd::compose(package, {}, diag);
    EXPECT_EQ(diag::render(sources, diag, {}), "");
    return Interpreter(program ? std::move(*program) : ir::Program{});
}

std::vector<Array> real(tensor::Shape shape, std::initializer_list<double> values) {
    Array array = *Array::zeros(tensor::DType::F32, std::move(shape));
    array.reals = values;
    return {array};
}

std::vector<Array> flag(bool value) {
    Array array = *Array::zeros(tensor::DType::Bool, {});
    array.integers = {value};
    return {array};
}

std::vector<double> reals(const Result<NamedArrays>& result, const std::string& name) {
    if (!result) return {};
    return result->at(name).at(0).reals;
}

std::vector<int64_t> integers(const Result<NamedArrays>& result, const std::string& name) {
    if (!result) return {};
    return result->at(name).at(0).integers;
}

TEST(Interpreter, ReadsBoolsOnlyWhereTheirConditionHolds) {
    Interpreter pad = load(R"(
operator shift {
    @input { x: bool[n]; }
    @output { y: bool[n]; }
    @lower { y[i,] = i > 0 ? x[i - 1,] : false, i < n; }
}
graph G {
    @input { a: bool[3]; }
    @output { y: bool[3]; }
    @compose { y = shift(a); }
})");
    Array a = *Array::zeros(tensor::DType::Bool, {3});
    a.integers = {1, 0, 1};
    EXPECT_EQ(integers(pad.run({{"a", {a}}}), "y"), (std::vector<int64_t>{0, 1, 0}));
}

TEST(Interpreter, GivesIntrinsicsTheExtentsOfTheRun) {
    Interpreter noise = load(R"(
import math, rand;
operator noise {
    @input { x: real[s..]; }
    @output { y: real[s..]; }
    @compose { y = rand.uniform{shape=s}(); }
}
graph G {
    @input { x: real[n|16]; }
    @output { y: real; }
    @compose { r = noise(x); y = math.add(x, r); }
})");
    const auto result = noise.run({{"x", real({4}, {0, 0, 0, 0})}});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->at("y").at(0).shape, (tensor::Shape{4}));
}

TEST(Interpreter, HandsOnWhatIsNotANumber) {
    Interpreter larger = load(R"(
import math;
graph G {
    @input { a: real[2]; b: real[2]; }
    @output { y: real[2]; }
    @compose { y = math.max(a, b); }
})");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto y = reals(larger.run({{"a", real({2}, {nan, 1})}, {"b", real({2}, {1, nan})}}), "y");
    ASSERT_EQ(y.size(), 2u);
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_TRUE(std::isnan(y[1]));
}

TEST(Interpreter, SumsProducts) {
    Interpreter matmul = load(R"(
operator matmul {
    @input { A: real[m, k]; B: real[k, n]; }
    @output { C: real[m, n]; }
    @lower { C[i, j] += A[i, l] * B[l, j], i < m, j < n, l < k; }
}
graph G {
    @input { a: real[2, 2]; b: real[2, 1]; }
    @output { c: real[2, 1]; }
    @compose { c = matmul(a, b); }
})");
    const auto result =
        matmul.run({{"a", real({2, 2}, {1, 2, 3, 4})}, {"b", real({2, 1}, {5, 6})}});
    EXPECT_EQ(reals(result, "c"), (std::vector<double>{17, 39}));
}

constexpr const char* kSmooth = R"(
operator smooth {
    @attrib { w: int; }
    @input { x: real[s]; }
    @output { y: real[s]; z: real[s]; }
    @lower {
        y[i,] += x[|i + j - w / 2|,], i < s, j < w;
        z[i,] = x[|i - 1 <> 0 : s - 1|,], i < s;
    }
}
graph G {
    @input { x: real[4]; }
    @output { y: real[4]; z: real[4]; }
    @compose { y, z = smooth{w=3}(x); }
})";

TEST(Interpreter, SkipsAndRemapsIndicesOutOfBounds) {
    Interpreter smooth = load(kSmooth);
    const auto result = smooth.run({{"x", real({4}, {1, 2, 3, 4})}});
    // 1+2, 1+2+3, 2+3+4, 3+4
    EXPECT_EQ(reals(result, "y"), (std::vector<double>{3, 6, 9, 7}));
    // index -1 becomes 0
    EXPECT_EQ(reals(result, "z"), (std::vector<double>{1, 1, 2, 3}));
}

TEST(Interpreter, UpdatesWhereTheConditionHolds) {
    Interpreter argmax = load(R"(
operator max_idx {
    @input { x: real[n]; }
    @output { idx: int[]; }
    @lower {
        idx[] = 0;
        idx[] := i, i < n | x[i,] > x[idx[],];
    }
}
graph G {
    @input { x: real[4]; }
    @output { i: int[]; }
    @compose { i = max_idx(x); }
})");
    EXPECT_EQ(integers(argmax.run({{"x", real({4}, {1, 7, 3, 7})}}), "i"), std::vector<int64_t>{1});
}

TEST(Interpreter, ReadsOnlyTheBranchThatASelectTakes) {
    Interpreter join = load(R"(
operator join {
    @input { x: real[n]; y: real[m]; }
    @output { z: real[n + m]; }
    @lower { z[i,] = i < n ? x[i,] : y[i - n,], i < n + m; }
}
graph G {
    @input { x: real[2]; y: real[1]; }
    @output { z: real[3]; }
    @compose { z = join(x, y); }
})");
    const auto result = join.run({{"x", real({2}, {1, 2})}, {"y", real({1}, {3})}});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(reals(result, "z"), (std::vector<double>{1, 2, 3}));
}

TEST(Interpreter, RefusesADataDependentIndexOutOfRange) {
    Interpreter pick = load(R"(
operator pick {
    @input { x: real[n]; i: int[]; }
    @output { y: real[]; }
    @lower { y[] = x[i[],]; }
}
graph G {
    @input { x: real[2]; i: int[]; }
    @output { y: real[]; }
    @compose { y = pick(x, i); }
})");
    Array five = *Array::zeros(tensor::DType::I64, {});
    five.integers = {5};
    const auto result = pick.run({{"x", real({2}, {1, 2})}, {"i", {five}}});
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("index 5 of `x` is outside of its extent 2"),
              std::string::npos)
        << result.error().message;
}

TEST(Interpreter, TakesDynamicExtentsFromTheInputs) {
    Interpreter twice = load(R"(
import math;
graph G {
    @input { x: real[n|8]; }
    @output { y: real[n]; }
    @compose { y = math.add(x, x); }
})");
    EXPECT_EQ(reals(twice.run({{"x", real({3}, {1, 2, 3})}}), "y"), (std::vector<double>{2, 4, 6}));
    EXPECT_EQ(reals(twice.run({{"x", real({1}, {5})}}), "y"), (std::vector<double>{10}));
    EXPECT_FALSE(twice.run({{"x", real({9}, {1, 2, 3, 4, 5, 6, 7, 8, 9})}}));
}

TEST(Interpreter, BranchesAndLoops) {
    Interpreter control = load(R"(
import math;
graph G {
    @input { x: real[]; c: bool[]; }
    @output { y: real[]; z: real[]; }
    @compose {
        y = if c then math.neg(x) else math.add(x, 1.0);
        z = with t = x while math.lt(t, 10.0) do math.mul(t, 2.0);
    }
})");
    const auto yes = control.run({{"x", real({}, {3})}, {"c", flag(true)}});
    EXPECT_EQ(reals(yes, "y"), (std::vector<double>{-3}));
    EXPECT_EQ(reals(yes, "z"), (std::vector<double>{12}));
    EXPECT_EQ(reals(control.run({{"x", real({}, {3})}, {"c", flag(false)}}), "y"),
              (std::vector<double>{4}));
}

TEST(Interpreter, KeepsVariablesBetweenSteps) {
    Interpreter sum = load(R"(
import math;
graph G {
    @input { x: real[2]; }
    @output { y: real[2]; }
    @variable { w: real[2]; }
    @compose { y = math.add(x, w); }
    @update { w = math.iden(y); }
})");
    ASSERT_TRUE(sum.set_variable("w", real({2}, {10, 20}).front()));
    EXPECT_FALSE(sum.set_variable("v", real({2}, {0, 0}).front()));
    const NamedArrays input = {{"x", real({2}, {1, 2})}};
    EXPECT_EQ(reals(sum.run(input), "y"), (std::vector<double>{11, 22}));
    EXPECT_EQ(reals(sum.run(input), "y"), (std::vector<double>{12, 24}));
}

// Both sums begin as 10. A run adds 1 in the arm if it is taken, and 1, 2, 3 in the loop.
TEST(Interpreter, UpdatesVariablesInBranchesAndLoops) {
    Interpreter totals = load(R"(
import math;
operator total {
    @input { x: real[]; }
    @variable { sum: real[]; }
    @output { y: real[]; }
    @compose { y = math.add(x, sum); }
    @update { sum = y; }
}
graph G {
    @input { x: real[]; xs: real[]..(3); c: bool[]; }
    @output { a: real[]; b: real[]..(3); }
    @compose {
        a = if c then total(x) else x;
        b = for x : xs do total(x);
    }
})");
    ASSERT_TRUE(totals.set_variable("a.sum", real({}, {10}).front()));
    ASSERT_TRUE(totals.set_variable("b.sum", real({}, {10}).front()));
    const auto run = [&](bool taken) -> std::vector<double> {
        std::vector<Array> xs;
        for (const double x : {1, 2, 3}) xs.push_back(real({}, {x}).front());
        const auto result = totals.run({{"x", real({}, {1})}, {"xs", xs}, {"c", flag(taken)}});
        if (!result) return {};
        std::vector<double> values = reals(result, "a");
        for (const Array& item : result->at("b")) values.push_back(item.reals.at(0));
        return values;
    };
    EXPECT_EQ(run(true), (std::vector<double>{11, 11, 13, 16}));
    EXPECT_EQ(run(false), (std::vector<double>{1, 17, 19, 22}));
    EXPECT_EQ(run(true), (std::vector<double>{12, 23, 25, 28}));
}

// Two variables are swapped, directly and in a loop.
TEST(Interpreter, UpdatesReadTheVariablesAsTheyWereBeforeTheStep) {
    Interpreter swap = load(R"(
import math;
graph G {
    @input { x: real[2]; }
    @output { y: real[2]; z: real[2]; }
    @variable { a: real[2]; b: real[2]; c: real[2]; }
    @compose { y = math.add(a, x); z = math.add(c, x); }
    @update {
        a = b;
        b = a;
        c = { a = math.add(a, 1.0); yield a; };
    }
})");
    ASSERT_TRUE(swap.set_variable("a", real({2}, {1, 2}).front()));
    ASSERT_TRUE(swap.set_variable("b", real({2}, {10, 20}).front()));
    ASSERT_TRUE(swap.set_variable("c", real({2}, {0, 0}).front()));
    const NamedArrays input = {{"x", real({2}, {0, 0})}};
    EXPECT_EQ(reals(swap.run(input), "y"), (std::vector<double>{1, 2}));
    const auto second = swap.run(input);
    EXPECT_EQ(reals(second, "y"), (std::vector<double>{10, 20}));
    EXPECT_EQ(reals(second, "z"), (std::vector<double>{2, 3}));
    const auto third = swap.run(input);
    EXPECT_EQ(reals(third, "y"), (std::vector<double>{1, 2}));
    EXPECT_EQ(reals(third, "z"), (std::vector<double>{11, 21}));
}

// Fibonacci numbers: each iteration of the loop is a step.
TEST(Interpreter, UpdatesInALoopReadTheVariablesAsTheyWereBeforeTheIteration) {
    Interpreter numbers = load(R"(
import math;
operator next {
    @input { x: real[]; }
    @variable { a: real[]; b: real[]; }
    @output { y: real[]; }
    @compose { y = math.add(x, b); }
    @update { a = b; b = math.add(a, b); }
}
graph G {
    @input { xs: real[]..(5); }
    @output { y: real[]..(5); }
    @compose { y = for x : xs do next(x); }
})");
    ASSERT_TRUE(numbers.set_variable("y.a", real({}, {0}).front()));
    ASSERT_TRUE(numbers.set_variable("y.b", real({}, {1}).front()));
    const auto run = [&] {
        const auto result = numbers.run({{"xs", std::vector<Array>(5, real({}, {0}).front())}});
        std::vector<double> values;
        if (!result) return values;
        for (const Array& item : result->at("y")) values.push_back(item.reals.at(0));
        return values;
    };
    EXPECT_EQ(run(), (std::vector<double>{1, 1, 2, 3, 5}));
    EXPECT_EQ(run(), (std::vector<double>{8, 13, 21, 34, 55}));
}

// None of these makes a new tensor.
TEST(Interpreter, HandsTensorsOn) {
    Interpreter hand = load(R"(
operator same {
    @dtype { T: type; }
    @input { x: T[s..]; }
    @output { y: T[s..]; }
    @compose { y = x; }
}
operator weights {
    @variable { w: real[2]; }
    @output { y: real[2]; }
    @compose { y = w; }
}
graph G {
    @input { x: real[2]; }
    @output { a: real[2]; b: real[2]; c: real[2]; }
    @compose {
        z = same(x);
        a = same(z);
        b = weights();
        c = x;
    }
})");
    ASSERT_TRUE(hand.set_variable("b.w", real({2}, {10, 20}).front()));
    const auto result = hand.run({{"x", real({2}, {1, 2})}});
    EXPECT_EQ(reals(result, "a"), (std::vector<double>{1, 2}));
    EXPECT_EQ(reals(result, "b"), (std::vector<double>{10, 20}));
    EXPECT_EQ(reals(result, "c"), (std::vector<double>{1, 2}));
}

TEST(Interpreter, RoundsToTheDtypeWhenAnOperationIsDone) {
    Interpreter third = load(R"(
import math;
graph G {
    @input { x: real[]; }
    @output { y: real[]; }
    @compose { y = math.div(x, 3.0); }
})");
    EXPECT_EQ(reals(third.run({{"x", real({}, {1})}}), "y"), (std::vector<double>{1.0f / 3.0f}));
}

}  // namespace
}  // namespace lemma
