// SPDX-License-Identifier: Apache-2.0
// Sums of products that read one operand in vectors where it lies: convolutions with few output
// channels, small matrices, and transposed convolutions whose results lie apart.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>

#include "engine/engine.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using engine::Engine;
using interpret::NamedArrays;
using testing_support::load_text;
using testing_support::random_inputs;
using testing_support::run_interpreter;

// Without a value, `in_place` depends on the target.
void expect_as_interpreted(const std::string& text, std::optional<bool> in_place = true) {
    SCOPED_TRACE(text);
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
        const bool found = (*engine)->dumped().find("in place") != std::string::npos;
        EXPECT_EQ(found, in_place.value_or(found)) << (*engine)->dumped();
        for (const auto& [name, items] : *wanted) {
            const auto& got = outputs->at(name)[0];
            ASSERT_EQ(got.shape, items[0].shape);
            for (size_t i = 0; i < items[0].reals.size(); ++i) {
                const double wanted_one = items[0].reals[i];
                ASSERT_NEAR(got.reals[i], wanted_one, 2e-5 * (1 + std::abs(wanted_one)))
                    << name << "[" << i << "]";
            }
        }
    }
}

struct Conv {
    int batch, from, to, extent, size, stride, dilation, pad, groups;
};

TEST(EngineInPlace, ConvolutionsWithFewChannels) {
    const Conv cases[] = {{1, 3, 1, 17, 3, 1, 1, 1, 1},
                          {2, 5, 3, 33, 3, 1, 1, 1, 1},
                          {1, 4, 4, 47, 5, 1, 1, 2, 1},
                          {1, 7, 6, 31, 3, 2, 1, 1, 1},  // lanes two apart
                          {2, 3, 2, 40, 3, 1, 2, 2, 1},
                          {1, 8, 6, 29, 3, 1, 1, 1, 2},
                          {1, 6, 5, 12, 1, 1, 1, 0, 1}};
    for (const Conv& c : cases) {
        const int reach = c.dilation * (c.size - 1) + 1;
        const int count = (c.extent + 2 * c.pad - reach) / c.stride + 1;
        expect_as_interpreted(fmt::format(R"(import nn; import math;
graph G {{
    @input {{ x: real[{0}, {1}, {2}, {2}]; s: real[{0}, {3}, {4}, {4}]; }}
    @output {{ y: real[{0}, {3}, {4}, {4}]; }}
    @variable {{ w: real[{3}, {5}, {6}, {6}]; b: real[{3}]; }}
    @compose {{
        c = nn.conv{{stride = [{7}, {7}], dilation = [{8}, {8}], padding = [{9}, {9}, {9}, {9}],
                    groups = {10}}}(x, w, b);
        a = math.add(c, s);
        y = nn.relu(a);
    }}
}})",
                                          c.batch,
                                          c.from,
                                          c.extent,
                                          c.to,
                                          count,
                                          c.from / c.groups,
                                          c.size,
                                          c.stride,
                                          c.dilation,
                                          c.pad,
                                          c.groups));
    }
}

// Neighbours have their channels innermost, so tensors between them are transposed.
TEST(EngineInPlace, BetweenConvolutionsWithManyChannels) {
    expect_as_interpreted(R"(import nn; import math;
graph G {
    @input { x: real[1, 3, 19, 21]; }
    @output { y: real[1, 32, 19, 21]; z: real[1, 4, 19, 21]; }
    @variable { a: real[32, 3, 3, 3]; b: real[4, 32, 3, 3]; c: real[32, 4, 3, 3]; d: real[4, 32, 1, 1]; }
    @compose {
        p = nn.conv{padding = [1, 1, 1, 1]}(x, a);
        q = nn.relu(p);
        r = nn.conv{padding = [1, 1, 1, 1]}(q, b);
        y = nn.conv{padding = [1, 1, 1, 1]}(r, c);
        s = nn.conv{padding = [0, 0, 0, 0]}(q, d);
        z = math.add(s, r);
    }
})");
}

TEST(EngineInPlace, OneAndThreeAxes) {
    expect_as_interpreted(R"(import nn;
graph G {
    @input { x: real[1, 5, 77]; z: real[1, 4, 6, 7, 18]; }
    @output { y: real[1, 2, 77]; v: real[1, 3, 6, 7, 18]; }
    @variable { w: real[2, 5, 7]; u: real[3, 4, 3, 3, 3]; }
    @compose {
        y = nn.conv{padding = [3, 3]}(x, w);
        v = nn.conv{padding = [1, 1, 1, 1, 1, 1]}(z, u);
    }
})");
}

// Lanes run on from row to row. Items copy their part of a large operand.
TEST(EngineInPlace, ConvolutionsOfOneElement) {
    const Conv cases[] = {{1, 80, 37, 13, 1, 1, 1, 0, 1},
                          {2, 90, 40, 12, 1, 1, 1, 0, 1},
                          {1, 200, 260, 11, 1, 1, 1, 0, 1},
                          {1, 33, 130, 63, 1, 2, 1, 0, 1},  // lanes two apart
                          {1, 140, 120, 15, 1, 1, 1, 0, 2},
                          {1, 500, 40, 8, 1, 1, 1, 0, 1},
                          {1, 5, 4, 19, 1, 1, 1, 0, 1}};
    for (const Conv& c : cases) {
        expect_as_interpreted(fmt::format(R"(import nn; import math;
graph G {{
    @input {{ x: real[{0}, {1}, {2}, {2}]; s: real[{0}, {3}, {4}, {4}]; }}
    @output {{ y: real[{0}, {3}, {4}, {4}]; }}
    @variable {{ w: real[{3}, {5}, 1, 1]; b: real[{3}]; }}
    @compose {{
        c = nn.conv{{stride = [{6}, {6}], padding = [0, 0, 0, 0], groups = {7}}}(x, w, b);
        a = math.add(c, s);
        y = nn.relu(a);
    }}
}})",
                                          c.batch,
                                          c.from,
                                          c.extent,
                                          c.to,
                                          (c.extent - 1) / c.stride + 1,
                                          c.from / c.groups,
                                          c.stride,
                                          c.groups),
                              std::nullopt);
    }
}

// Also with a first operand that is constant, with long sums, and with few columns.
TEST(EngineInPlace, SmallMatrices) {
    for (const auto& [m, k, n] :
         {std::array{3, 64, 24}, {4, 5, 17}, {1, 600, 33}, {7, 9, 9}, {24, 7, 7}, {9, 3, 4}}) {
        expect_as_interpreted(fmt::format(R"(import linalg;
graph G {{
    @input {{ x: real[37, {0}, {1}]; z: real[37, {1}, {2}]; }}
    @output {{ y: real[37, {0}, {2}]; v: real[37, {0}, {2}]; }}
    @variable {{ w: real[37, {0}, {1}]; }}
    @compose {{ y = linalg.matmul(x, z); v = linalg.matmul(w, z); }}
}})",
                                          m,
                                          k,
                                          n));
    }
}

// Weights of few columns are packed.
TEST(EngineInPlace, WeightsWithFewColumns) {
    for (const auto& [m, k, n] : {std::array{24, 7, 7}, {49, 3, 4}, {8, 1200, 3}}) {
        const std::string text = fmt::format(R"(import linalg; import nn;
graph G {{
    @input {{ x: real[19, {0}, {1}]; }}
    @output {{ y: real[19, {0}, {2}]; }}
    @variable {{ w: real[19, {1}, {2}]; }}
    @compose {{ p = linalg.matmul(x, w); y = nn.relu(p); }}
}})",
                                             m,
                                             k,
                                             n);
        expect_as_interpreted(text, false);
    }
}

struct Deconv {
    int to, extent, size, stride, before, after;
};

TEST(EngineInPlace, TransposedConvolutions) {
    const Deconv cases[] = {{3, 9, 4, 4, 0, 0},
                            {3, 17, 4, 2, 1, 1},
                            {2, 19, 3, 2, 1, 0},
                            {1, 11, 16, 8, 4, 4},
                            {4, 10, 7, 3, 2, 1},
                            {1, 20, 3, 2, 1, 1},
                            {2, 17, 8, 4, 1, 0},  // ends three elements into a block
                            {5, 18, 3, 1, 1, 1},
                            {2, 12, 2, 3, 0, 0}};  // a remainder with no taps
    for (const Deconv& c : cases) {
        const int count = (c.extent - 1) * c.stride + c.size - c.before - c.after;
        expect_as_interpreted(fmt::format(R"(import nn; import math;
graph G {{
    @input {{ x: real[2, 6, {0}, {0}]; s: real[2, {1}, {2}, {2}]; }}
    @output {{ y: real[2, {1}, {2}, {2}]; }}
    @variable {{ w: real[6, {1}, {3}, {3}]; b: real[{1}]; }}
    @compose {{
        d = nn.deconv{{stride = [{4}, {4}], padding = [{5}, {5}, {6}, {6}]}}(x, w, b);
        a = math.add(d, s);
        y = nn.relu(a);
    }}
}})",
                                          c.extent,
                                          c.to,
                                          count,
                                          c.size,
                                          c.stride,
                                          c.before,
                                          c.after));
    }
}

// Results that leave the cache are not transposed, and tiles write runs of several blocks of lanes
// to each of their rows. The last block and the last panel are not full.
TEST(EngineInPlace, LargeResultsKeepTheirLayout) {
    struct Large {
        int from, to, extent, size, pad;
    };
    for (const Large& c :
         {Large{1, 21, 33'333, 3, 1}, {2, 40, 16'000, 1, 0}, {80, 16, 16'001, 1, 0}}) {
        expect_as_interpreted(fmt::format(R"(import nn;
graph G {{
    @input {{ x: real[1, {0}, {2}]; }}
    @output {{ y: real[1, {1}, {2}]; }}
    @variable {{ w: real[{1}, {0}, {3}]; b: real[{1}]; }}
    @compose {{ c = nn.conv{{padding = [{4}, {4}]}}(x, w, b); y = nn.relu(c); }}
}})",
                                          c.from,
                                          c.to,
                                          c.extent,
                                          c.size,
                                          c.pad));
    }
}

// Lanes along many channels are full, and layouts stay as they are.
TEST(EngineInPlace, ManyChannelsArePacked) {
    expect_as_interpreted(R"(import nn;
graph G {
    @input { x: real[1, 8, 16, 16]; }
    @output { y: real[1, 32, 16, 16]; }
    @variable { w: real[32, 8, 3, 3]; }
    @compose { y = nn.conv{padding = [1, 1, 1, 1]}(x, w); }
})",
                          false);
}

// Kernels write an output to memory of the caller, unless an input or another output is there.
TEST(EngineInPlace, OutputsInMemoryOfTheCaller) {
    const auto state = load_text(R"(
import math;
graph G {
    @input { x: real[40]; }
    @output { a: real[40]; b: real[40]; }
    @compose { a = math.exp(x); b = math.add(a, x); }
})");
    ASSERT_TRUE(state);
    auto engine = Engine::create(*state, {.verify = true});
    ASSERT_TRUE(engine);
    ASSERT_TRUE((*engine)->run(random_inputs(state->program())));
    std::vector<float> x(40, 0.5F), first(40), second(40);
    const std::vector<int64_t> shape = {40};
    const Engine::Bytes input = {tensor::DType::F32, shape, x.data()};
    const auto places = [&](std::vector<Engine::Room> rooms) {
        std::vector<void*> found;
        const auto receive = [&](const Engine::Output& made) {
            found.push_back(made.data);
            return Result<void>();
        };
        const auto done = (*engine)->run_directly({&input, 1}, receive, rooms);
        EXPECT_TRUE(done && *done);
        return found;
    };
    const Engine::Room one = {first.data(), 160}, other = {second.data(), 160};
    const auto own = places({});
    EXPECT_EQ(places({one, other}), (std::vector<void*>{first.data(), second.data()}));
    EXPECT_FLOAT_EQ(first[7], std::exp(0.5F));
    EXPECT_FLOAT_EQ(second[7], std::exp(0.5F) + 0.5F);
    EXPECT_EQ(places({{}, other}), (std::vector<void*>{own[0], second.data()}));
    EXPECT_EQ(places({one, one}), own);
    EXPECT_EQ(places({{x.data(), 160}}), own);
    EXPECT_EQ(places({{first.data(), 159}}), own);
    EXPECT_EQ(places({{reinterpret_cast<std::byte*>(first.data()) + 1, 159}}), own);
}

}  // namespace
}  // namespace lemma
