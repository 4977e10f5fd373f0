// SPDX-License-Identifier: Apache-2.0
// Random formulas: strict compiled code has the bits of the interpreter, in both precisions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "engine/engine.h"
#include "interpret/random.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using interpret::Array;
using interpret::NamedArrays;
using ir::Accumulate;
using testing_support::load_text;

// Writes operators with random formulas over x: real[6], v: real[9] and w: real[6, 9].
class RandomFormulas {
public:
    explicit RandomFormulas(uint64_t seed) : seed_(seed) {}

    std::string model(int operators) {
        std::string definitions, calls, outputs;
        for (int k = 0; k < operators; ++k) {
            definitions += operation(k);
            outputs += fmt::format("y{0}: real[6]; z{0}: real[6]; b{0}: int[6]; ", k);
            calls += fmt::format("y{0}, z{0}, b{0} = f{0}(x, v, w); ", k);
        }
        return fmt::format(
            "{}graph G {{ @input {{ x: real[6]; v: real[9]; w: real[6, 9]; }} @output {{ {} }} "
            "@compose {{ {} }} }}\n",
            definitions,
            outputs,
            calls);
    }

private:
    size_t pick(size_t count) { return interpret::random_bits(seed_, next_++) % count; }
    template <size_t N>
    const char* any(const char* const (&of)[N]) {
        return of[pick(N)];
    }

    // The formulas may use `i`, and `j` if it is a loop.
    std::string operation(int k) {
        const char* const sums[] = {"+=", "+=", "*=", "<=", ">="};
        std::string lower = fmt::format("y[i,] = {}, i < 6; ", real(2, false));
        if (pick(3) != 0) {
            lower += fmt::format("y[i,] {} {}, i < 6, j < 9; ", any(sums), real(3, true));
        }
        lower += fmt::format("z[i,] = y[i,] + {}, i < 6; ", real(2, false));
        if (pick(2) == 0) {
            lower += fmt::format("z[i + 1,] := z[i,] * {} - y[i,], i < 5; ", real(1, false));
        }
        lower += fmt::format("b[i,] = int({}), i < 6; ", real(3, false));
        return fmt::format(
            "operator f{} {{ @input {{ x: real[6]; v: real[9]; w: real[6, 9]; }} "
            "@output {{ y: real[6]; z: real[6]; b: int[6]; }} @lower {{ {}}} }}\n",
            k,
            lower);
    }

    std::string real(int depth, bool inner) {
        if (depth == 0) return leaf(inner);
        const auto part = [&] { return real(depth - 1, inner); };
        switch (pick(6)) {
            case 0:
                return fmt::format("{}({})",
                                   any({"exp",
                                        "log",
                                        "sqrt",
                                        "tanh",
                                        "sin",
                                        "erf",
                                        "floor",
                                        "round",
                                        "ceil",
                                        "abs",
                                        "sign",
                                        "frac",
                                        "atan"}),
                                   part());
            case 1: {
                // The interpreter refuses some selections inside of selections.
                if (selects_) return part();
                selects_ = true;
                const std::string result = fmt::format("({} {} {} ? {} : {})",
                                                       part(),
                                                       any({"<", "<=", "==", "!="}),
                                                       part(),
                                                       part(),
                                                       part());
                selects_ = false;
                return result;
            }
            case 2:
                return fmt::format(
                    "({} {} {})", part(), any({"<<", ">>", "%", "\\", "**"}), part());
            default:
                return fmt::format("({} {} {})", part(), any({"+", "-", "*", "/"}), part());
        }
    }
    std::string leaf(bool inner) {
        switch (pick(7)) {
            case 0:
                return any({"0.1", "3.0", "1e-3", "16777217.0", "1e30", "-0.7"});
            case 1:
                return inner ? "real(i * 3 - j)" : "real(i * 16777219)";
            case 2:
                return inner ? "w[i, j]" : "v[i + 2,]";
            case 3:
                return inner ? "v[j,]" : "w[i, 4]";
            case 4:
                return "v[int(x[i,] * 7.3) % 9,]";
            default:
                return "x[i,]";
        }
    }

    uint64_t seed_;
    uint64_t next_ = 0;
    bool selects_ = false;  // inside of a selection
};

Array values(tensor::Shape shape, uint64_t seed, bool special) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kSpecial[] = {NAN, kInfinity, -kInfinity, 0.0, -0.0, 1e-42, 3e38};
    Array array = *Array::zeros(tensor::DType::F32, std::move(shape));
    for (size_t i = 0; i < array.reals.size(); ++i) {
        array.reals[i] = 4 * interpret::random_unit(seed, i) - 2;
        const uint64_t bits = interpret::random_bits(seed + 1, i);
        if (special && bits % 4 == 0) array.reals[i] = kSpecial[(bits >> 32) % std::size(kSpecial)];
    }
    array.round();
    return array;
}

bool same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) ||
           std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

TEST(RandomFormulas, StrictHasTheBitsOfTheInterpreter) {
    constexpr uint64_t kSeeds[] = {1, 2};
    for (const uint64_t seed : kSeeds) {
        const std::string text = RandomFormulas(seed).model(40);
        const auto state = load_text(text);
        ASSERT_TRUE(state);
        for (const auto accumulate : {Accumulate::F64, Accumulate::F32}) {
            const auto engine =
                engine::Engine::create(*state,
                                       {.verify = true,
                                        .run = {.accumulate = accumulate},
                                        .weights = {},
                                        .compiler = {.numerics = loop::Numerics::Strict}});
            ASSERT_TRUE(engine) << engine.error().message;
            for (const bool special : {false, true}) {
                const NamedArrays inputs = {{"x", {values({6}, seed, special)}},
                                            {"v", {values({9}, seed + 10, special)}},
                                            {"w", {values({6, 9}, seed + 20, special)}}};
                const auto want =
                    interpret::Interpreter(*state, {.accumulate = accumulate}).run(inputs);
                const auto got = (*engine)->run(inputs);
                ASSERT_TRUE(want) << want.error().message;
                ASSERT_TRUE(got) << got.error().message;
                for (const auto& [name, items] : *want) {
                    const Array& a = items[0];
                    const Array& b = got->at(name)[0];
                    EXPECT_EQ(a.integers, b.integers) << name << " of seed " << seed;
                    for (size_t i = 0; i < a.reals.size(); ++i) {
                        EXPECT_TRUE(same(a.reals[i], b.reals[i]))
                            << name << "[" << i << "] of seed " << seed << ": " << b.reals[i]
                            << ", expected " << a.reals[i];
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace lemma
