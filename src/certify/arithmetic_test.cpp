// SPDX-License-Identifier: Apache-2.0
// Every operation on abstract values, tried on random numbers that they stand for: the bounds of
// the result must contain what exact and float arithmetic give. long double is exact enough here.
#include "certify/arithmetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace lemma::certify {
namespace {

using Real = long double;

// An exact number, a float near it, and an abstract value that stands for both.
struct Sample {
    Real ideal = 0;
    double computed = 0;
    Value value;
};

class Source {
public:
    explicit Source(uint64_t seed) : random_(seed) {}

    double between(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random_);
    }
    // Around 0, or on one side of it; with and without errors; narrow and wide.
    Sample next(double low, double high) {
        const double a = between(low, high), b = between(low, high);
        const double left = std::min(a, b), right = std::max(a, b);
        const bool exact = random_() % 3 == 0;
        const double error = exact ? 0 : std::pow(10, between(-9, -1)) * (right - left);
        Sample made;
        double ideal = random_() % 4 == 0 ? left : between(left, right);
        if (exact) ideal = static_cast<float>(ideal);
        made.ideal = ideal;
        made.computed = static_cast<float>(ideal + between(-error, error));
        const double off = std::fabs(made.computed - ideal);
        made.value = {.low = std::min(left, ideal),
                      .high = std::max(right, ideal),
                      .clow = std::min(left - error, made.computed),
                      .chigh = std::max(right + error, made.computed),
                      .error = exact ? 0 : std::max(error, off),
                      .relative = exact ? 0 : kInfinity};
        if (!exact && random_() % 2 == 0 && ideal != 0) {
            made.value.relative = up(off / std::fabs(ideal)) * between(1, 4);
            made.value.tiny = random_() % 2 == 0 ? 0 : between(0, 1e-30);
        }
        made.value.grid = Grid::F32;
        made.value = sealed(made.value);
        return made;
    }

private:
    std::mt19937_64 random_;
};

void expect_within(const Value& v, Real ideal, double computed, const char* what) {
    if (v.nan) return;
    EXPECT_GE(ideal, static_cast<Real>(v.low)) << what;
    EXPECT_LE(ideal, static_cast<Real>(v.high)) << what;
    EXPECT_GE(computed, v.clow) << what;
    EXPECT_LE(computed, v.chigh) << what;
    const Real distance = std::fabs(static_cast<Real>(computed) - ideal);
    EXPECT_LE(distance, static_cast<Real>(v.error)) << what;
    if (v.relative < kInfinity) {
        EXPECT_LE(distance, static_cast<Real>(v.relative) * std::fabs(ideal) + v.tiny) << what;
    }
}

// `divides`: the second operand stays away from 0.
void try_binary(const char* name,
                const std::function<Value(Arithmetic&, const Value&, const Value&)>& abstract,
                const std::function<Real(Real, Real)>& exact,
                const std::function<float(float, float)>& rounded,
                bool divides) {
    Source source(1);
    for (int i = 0; i < 20'000; ++i) {
        const Sample a = source.next(-3, 3);
        const Sample b = divides ? source.next(0.2, 5) : source.next(-3, 3);
        Events events;
        Arithmetic arithmetic(Precision::f32(), events);
        expect_within(abstract(arithmetic, a.value, b.value),
                      exact(a.ideal, b.ideal),
                      rounded(static_cast<float>(a.computed), static_cast<float>(b.computed)),
                      name);
        if (testing::Test::HasFailure()) return;
    }
}

TEST(Arithmetic, OperationsOfTwoNumbersAreSound) {
    using A = Arithmetic;
    using V = const Value&;
    try_binary(
        "add",
        [](A& x, V a, V b) { return x.add(a, b); },
        [](Real a, Real b) { return a + b; },
        [](float a, float b) { return a + b; },
        false);
    try_binary(
        "sub",
        [](A& x, V a, V b) { return x.sub(a, b); },
        [](Real a, Real b) { return a - b; },
        [](float a, float b) { return a - b; },
        false);
    try_binary(
        "mul",
        [](A& x, V a, V b) { return x.mul(a, b); },
        [](Real a, Real b) { return a * b; },
        [](float a, float b) { return a * b; },
        false);
    try_binary(
        "div",
        [](A& x, V a, V b) { return x.div(a, b); },
        [](Real a, Real b) { return a / b; },
        [](float a, float b) { return a / b; },
        true);
    try_binary(
        "max",
        [](A&, V a, V b) { return A::max(a, b); },
        [](Real a, Real b) { return std::max(a, b); },
        [](float a, float b) { return std::max(a, b); },
        false);
    try_binary(
        "min",
        [](A&, V a, V b) { return A::min(a, b); },
        [](Real a, Real b) { return std::min(a, b); },
        [](float a, float b) { return std::min(a, b); },
        false);
}

TEST(Arithmetic, SquaresAndSigmoidsAreSound) {
    Source source(2);
    for (int i = 0; i < 20'000 && !HasFailure(); ++i) {
        const Sample a = source.next(-3, 3);
        Events events;
        Arithmetic arithmetic(Precision::f32(), events);
        const auto x = static_cast<float>(a.computed);
        expect_within(arithmetic.square(a.value), a.ideal * a.ideal, x * x, "square");
        const float t = static_cast<float>(std::exp(-static_cast<double>(x)));
        expect_within(arithmetic.sigmoid(a.value),
                      1 / (1 + std::exp(-a.ideal)),
                      1.0F / (t + 1.0F),
                      "sigmoid");
    }
}

struct Function {
    const char* name;
    double low, high;
    Real (*exact)(Real);
    double (*library)(double);
};

TEST(Arithmetic, FunctionsAreSound) {
    const Function functions[] = {
        {"sqrt",
         0.1,
         9,
         [](Real x) { return std::sqrt(x); },
         [](double x) { return std::sqrt(x); }},
        {"exp", -5, 5, [](Real x) { return std::exp(x); }, [](double x) { return std::exp(x); }},
        {"log", 0.2, 9, [](Real x) { return std::log(x); }, [](double x) { return std::log(x); }},
        {"sin", -9, 9, [](Real x) { return std::sin(x); }, [](double x) { return std::sin(x); }},
        {"cos", -9, 9, [](Real x) { return std::cos(x); }, [](double x) { return std::cos(x); }},
        {"tan", -1, 1, [](Real x) { return std::tan(x); }, [](double x) { return std::tan(x); }},
        {"asin",
         -0.8,
         0.8,
         [](Real x) { return std::asin(x); },
         [](double x) { return std::asin(x); }},
        {"acos",
         -0.8,
         0.8,
         [](Real x) { return std::acos(x); },
         [](double x) { return std::acos(x); }},
        {"atan", -5, 5, [](Real x) { return std::atan(x); }, [](double x) { return std::atan(x); }},
        {"sinh", -4, 4, [](Real x) { return std::sinh(x); }, [](double x) { return std::sinh(x); }},
        {"cosh", -4, 4, [](Real x) { return std::cosh(x); }, [](double x) { return std::cosh(x); }},
        {"tanh", -4, 4, [](Real x) { return std::tanh(x); }, [](double x) { return std::tanh(x); }},
        {"asinh",
         -4,
         4,
         [](Real x) { return std::asinh(x); },
         [](double x) { return std::asinh(x); }},
        {"acosh",
         1.5,
         4,
         [](Real x) { return std::acosh(x); },
         [](double x) { return std::acosh(x); }},
        {"atanh",
         -0.8,
         0.8,
         [](Real x) { return std::atanh(x); },
         [](double x) { return std::atanh(x); }},
        {"erf", -3, 3, [](Real x) { return std::erf(x); }, [](double x) { return std::erf(x); }},
        {"abs", -3, 3, [](Real x) { return std::fabs(x); }, [](double x) { return std::fabs(x); }},
        {"floor",
         -3,
         3,
         [](Real x) { return std::floor(x); },
         [](double x) { return std::floor(x); }},
        {"round",
         -3,
         3,
         [](Real x) { return std::round(x); },
         [](double x) { return std::round(x); }},
        {"sign",
         -1,
         1,
         [](Real x) -> Real { return (x > 0) - (x < 0); },
         [](double x) -> double { return (x > 0) - (x < 0); }},
        {"frac",
         -3,
         3,
         [](Real x) { return x - std::trunc(x); },
         [](double x) { return x - std::trunc(x); }},
    };
    for (const Function& function : functions) {
        Source source(3);
        for (int i = 0; i < 5'000 && !HasFailure(); ++i) {
            const Sample a = source.next(function.low, function.high);
            Events events;
            Arithmetic arithmetic(Precision::f32(), events);
            expect_within(arithmetic.function(function.name, a.value),
                          function.exact(a.ideal),
                          static_cast<float>(function.library(a.computed)),
                          function.name);
        }
    }
}

TEST(Arithmetic, PowersAreSound) {
    for (const double exponent : {2.0, 3.0, -2.0, 0.5, 1.7, -0.3}) {
        Source source(4);
        const bool whole = exponent == 2 || exponent == 3;
        for (int i = 0; i < 5'000 && !HasFailure(); ++i) {
            const Sample a = whole ? source.next(-3, 3) : source.next(0.3, 4);
            Events events;
            Arithmetic arithmetic(Precision::f32(), events);
            const auto y = static_cast<double>(static_cast<float>(exponent));
            expect_within(arithmetic.pow(a.value, Value::point(y)),
                          std::pow(a.ideal, static_cast<Real>(y)),
                          static_cast<float>(std::pow(a.computed, y)),
                          "pow");
        }
    }
}

TEST(Arithmetic, ExactSumsOfNumbersHaveNoError) {
    Events events;
    Arithmetic arithmetic(Precision::f32(), events);
    const Value sum = arithmetic.add(Value::point(1.5), Value::point(2.25));
    EXPECT_TRUE(sum.is_point());
    EXPECT_EQ(sum.low, 3.75);
    EXPECT_GT(arithmetic.add(Value::point(1), Value::point(0x1p-30)).error, 0);
}

TEST(Arithmetic, ReportsTroubleWithTheOperands) {
    Events events;
    Arithmetic arithmetic(Precision::f32(), events);
    EXPECT_TRUE(std::isinf(arithmetic.mul(Value::between(0, 1e30), Value::between(0, 1e30)).chigh));
    EXPECT_TRUE(events[Hazard::Overflow].met);
    EXPECT_TRUE(events[Hazard::Overflow].own);
    EXPECT_FALSE(events[Hazard::Invalid].met);
    const Value infinite = Value::between(0, kInfinity);
    EXPECT_TRUE(arithmetic.sub(infinite, infinite).nan);
    EXPECT_TRUE(events[Hazard::Invalid].met);
    EXPECT_TRUE(arithmetic.div(Value::point(1), Value::between(-1, 1)).nan);
    EXPECT_TRUE(events[Hazard::DivisionByZero].met);
    EXPECT_TRUE(arithmetic.function("log", Value::between(-1, 1)).nan);
    EXPECT_TRUE(events[Hazard::Domain].met);
    EXPECT_FALSE(events[Hazard::Wrap].met);
    arithmetic.stored(Value::between(0, 300), tensor::DType::U8);
    EXPECT_TRUE(events[Hazard::Wrap].met);
}

TEST(Arithmetic, DecisionsNeedAMargin) {
    Events events;
    Arithmetic arithmetic(Precision::exact(), events);
    Value a = Value::between(1, 2), b = Value::between(2.5, 3);
    a.error = b.error = 0.1;
    a.chigh = 2.1;
    b.clow = 2.4;
    EXPECT_EQ(arithmetic.less(a, b).error, 0);
    EXPECT_EQ(arithmetic.less(a, b).clow, 1);
    EXPECT_FALSE(events[Hazard::Decision].met);
    b.low = 1.9;
    b.clow = 1.8;
    EXPECT_EQ(arithmetic.less(a, b).error, 1);
    EXPECT_TRUE(events[Hazard::Decision].met);
}

}  // namespace
}  // namespace lemma::certify
