// SPDX-License-Identifier: Apache-2.0
// Integer overflow and division: both engines follow the rules of docs/numerics.md.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "engine/engine.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using engine::Engine;
using interpret::Array;
using interpret::NamedArrays;
using testing_support::load_text;
using testing_support::run_interpreter;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
// Several vectors, with some lanes in a last partial one.
constexpr size_t kCount = 37;

Array ints(const std::vector<int64_t>& values) {
    Array array = *Array::zeros(tensor::DType::I64, {kCount});
    for (size_t i = 0; i < kCount; ++i) array.integers[i] = values[i % values.size()];
    return array;
}

Array reals(tensor::DType dtype, const std::vector<double>& values) {
    Array array = *Array::zeros(dtype, {kCount});
    for (size_t i = 0; i < kCount; ++i) array.reals[i] = values[i % values.size()];
    return array;
}

// In the interpreter, and compiled with default and strict numerics.
void expect(const std::string& text,
            const NamedArrays& inputs,
            const std::map<std::string, std::vector<int64_t>>& want) {
    const auto check = [&](const Result<NamedArrays>& got, const char* how) {
        ASSERT_TRUE(got) << got.error().message;
        for (const auto& [name, values] : want) {
            EXPECT_EQ(got->at(name).at(0).integers, ints(values).integers) << name << ", " << how;
        }
    };
    const auto oracle = load_text(text);
    ASSERT_TRUE(oracle);
    check(run_interpreter(*oracle, inputs), "interpreted");
    for (const auto numerics : {loop::Numerics::Default, loop::Numerics::Strict}) {
        const auto own = load_text(text);
        const auto engine =
            Engine::create(*own, {.verify = true, .compiler = {.numerics = numerics}});
        ASSERT_TRUE(engine) << engine.error().message;
        check((*engine)->run(inputs), "compiled");
        for (const loop::PlanStep& step : (*engine)->plan().steps)
            EXPECT_NE(step.kernel(), nullptr);
    }
}

TEST(Integers, ConversionSaturatesAndNanIsZero) {
    expect(R"(
operator whole {
    @input { x: real[n]; }
    @output { y: int[n]; }
    @lower { y[i,] = int(x[i,]), i < n; }
}
graph G { @input { x: real[37]; } @output { y: int[37]; } @compose { y = whole(x); } })",
           {{"x",
             {reals(tensor::DType::F32,
                    {std::nan(""),
                     HUGE_VAL,
                     -HUGE_VAL,
                     1e30,
                     -1e30,
                     0x1p63,
                     -0x1p63,
                     0x1.fffffep62,
                     -2.75,
                     2.75})}}},
           {{"y", {0, kMost, kLeast, kMost, kLeast, kMost, kLeast, 0x7fffff8000000000, -2, 2}}});
}

constexpr const char* kDivisions = R"(
operator divide {
    @input { a: int[n]; b: int[n]; }
    @output { down: int[n]; rest: int[n]; up: int[n]; }
    @lower {
        down[i,] = a[i,] / b[i,], i < n;
        rest[i,] = a[i,] % b[i,], i < n;
        up[i,] = a[i,] \ b[i,], i < n;
    }
}
graph G {
    @input { a: int[37]; b: int[37]; }
    @output { down: int[37]; rest: int[37]; up: int[37]; }
    @compose { down, rest, up = divide(a, b); }
})";

TEST(Integers, DivisionByZeroIsZero) {
    expect(kDivisions,
           {{"a", {ints({7, -7, 0, kLeast, kMost, 7, -7})}}, {"b", {ints({0, 0, 0, 0, 0, 2, 2})}}},
           {{"down", {0, 0, 0, 0, 0, 3, -4}},
            {"rest", {0, 0, 0, 0, 0, 1, 1}},
            {"up", {0, 0, 0, 0, 0, 4, -3}}});
}

TEST(Integers, DivisionOfTheLeastByMinusOneWrapsAround) {
    expect(kDivisions,
           {{"a", {ints({kLeast, kLeast, kMost, 5})}}, {"b", {ints({-1, 1, -1, -1})}}},
           {{"down", {kLeast, kLeast, -kMost, -5}},
            {"rest", {0, 0, 0, 0}},
            {"up", {kLeast, kLeast, -kMost, -5}}});
}

// The divisor is a constant of the model; the values are the same as above.
TEST(Integers, DivisionByAConstantMinusOneWrapsAround) {
    expect(R"(
operator negate {
    @input { a: int[n]; }
    @output { y: int[n]; }
    @lower { y[i,] = a[i,] / -1, i < n; }
}
graph G { @input { a: int[37]; } @output { y: int[37]; } @compose { y = negate(a); } })",
           {{"a", {ints({kLeast, kMost, 5})}}},
           {{"y", {kLeast, -kMost, -5}}});
}

// Products wrap around; a negative exponent gives 0.
TEST(Integers, Powers) {
    expect(R"(
operator powers {
    @input { a: int[n]; b: int[n]; }
    @output { y: int[n]; two: int[n]; ten: int[n]; }
    @lower {
        y[i,] = a[i,] ** b[i,], i < n;
        two[i,] = 2 ** b[i,], i < n;
        ten[i,] = a[i,] ** 10, i < n;
    }
}
graph G {
    @input { a: int[37]; b: int[37]; }
    @output { y: int[37]; two: int[37]; ten: int[37]; }
    @compose { y, two, ten = powers(a, b); }
})",
           {{"a", {ints({2, -3, 0, 5, 2, 3, -1, 3, 7})}},
            {"b", {ints({63, 3, 0, -1, 64, 40, kMost, 1025, kLeast})}}},
           {{"y", {kLeast, -27, 1, 0, 0, -6289078614652622815, -1, -2815345897017479165, 0}},
            {"two", {kLeast, 8, 1, 0, 0, int64_t{1} << 40, 0, 0, 0}},
            {"ten", {1024, 59049, 0, 9765625, 1024, 59049, 1, 59049, 282475249}}});
}

// An arm that is not selected has no effect, whatever it divides by.
TEST(Integers, GuardedDivisionIsTheGuardedValue) {
    expect(R"(
operator safe {
    @input { a: int[n]; b: int[n]; }
    @output { y: int[n]; }
    @lower { y[i,] = b[i,] == 0 ? -9 : a[i,] / b[i,], i < n; }
}
graph G {
    @input { a: int[37]; b: int[37]; }
    @output { y: int[37]; }
    @compose { y = safe(a, b); }
})",
           {{"a", {ints({7, 7, kLeast})}}, {"b", {ints({0, 2, -1})}}},
           {{"y", {-9, 3, kLeast}}});
}

}  // namespace
}  // namespace lemma
