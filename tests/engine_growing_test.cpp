// SPDX-License-Identifier: Apache-2.0
// Extents that grow from run to run, and outputs that are carried over to the next run: attention
// with the keys and values of earlier tokens.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/engine.h"
#include "engine/growing.h"
#include "interpret/random.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using engine::Engine;
using interpret::Array;
using interpret::NamedArrays;
using testing_support::load_text;
using testing_support::run_interpreter;

// The row `at` of a table is added to the result; another number than 0 to 3 is a fault.
constexpr const char* kAttention = R"(
import layout; import linalg; import math; import nn;
operator causal {
    @input { scores: real[h, s, t]; }
    @output { y: real[h, s, t]; }
    @lower { y[g, i, j] = j <= t - s + i ? scores[g, i, j] : -1e9, g < h, i < s, j < t; }
}
operator heads {
    @input { x: real[s, 8]; }
    @output { y: real[2, s, 4]; }
    @compose {
        cut = layout.unflatten{axis = 1, shape = [2, 4]}(x);
        y = layout.transpose{perm = [1, 0, 2]}(cut);
    }
}
operator row {
    @input { table: real[n, m]; at: int[]; }
    @output { y: real[m]; }
    @lower { y[i,] = table[at[], i], i < m; }
}
graph Attention {
    @input { x: real[s|16, 8]; at: int[]; past_k: real[2, p|400, 4]; past_v: real[2, p, 4]; }
    @output { y: real[s, 8]; k: real[2, p + s, 4]; v: real[2, p + s, 4]; }
    @variable { wq: real[8, 8]; wk: real[8, 8]; wv: real[8, 8]; table: real[4, 8]; }
    @compose {
        q0 = nn.linear(x, wq); k0 = nn.linear(x, wk); v0 = nn.linear(x, wv);
        q1 = heads(q0); k1 = heads(k0); v1 = heads(v0);
        k = layout.concat{axis = 1}([past_k, k1]);
        v = layout.concat{axis = 1}([past_v, v1]);
        scores = linalg.matmul{transB = true}(q1, k);
        seen = causal(scores);
        parts = nn.softmax{axes = [-1]}(seen);
        mixed = linalg.matmul(parts, v);
        turned = layout.transpose{perm = [1, 0, 2]}(mixed);
        joined = layout.flatten{axis = 1}(turned);
        place = row(table, at);
        y = math.add(joined, place);
    }
})";

constexpr int64_t kWidth = 8;

// The inputs of the tokens from `first` on.
Array tokens(int64_t first, int64_t count) {
    Array x = Array::zeros(tensor::DType::F32, {count, kWidth}).value();
    for (size_t i = 0; i < x.reals.size(); ++i) {
        const auto element = static_cast<uint64_t>(first * kWidth) + i;
        x.reals[i] = interpret::random_unit(5, element) - 0.5;
    }
    x.round();
    return x;
}

Array number(int64_t value) {
    Array array = Array::zeros(tensor::DType::I64, {}).value();
    array.integers[0] = value;
    return array;
}

NamedArrays inputs_of(int64_t first, int64_t count, Array past_k, Array past_v) {
    NamedArrays inputs;
    inputs["x"].push_back(tokens(first, count));
    inputs["at"].push_back(number(1));
    inputs["past_k"].push_back(std::move(past_k));
    inputs["past_v"].push_back(std::move(past_v));
    return inputs;
}

Array nothing() { return Array::zeros(tensor::DType::F32, {2, 0, 4}).value(); }

void expect_near(std::span<const float> got, const std::vector<double>& want, size_t from) {
    ASSERT_GT(got.size(), 0U);
    ASSERT_LE(from + got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[from + i], 2e-5) << i;
}

struct Decoder {
    std::unique_ptr<interpret::State> state = load_text(kAttention, testing_support::small_weight);
    std::unique_ptr<Engine> engine;
    ir::TensorId past_k, past_v;

    explicit Decoder(engine::EngineOptions options, bool carried = true) {
        engine = Engine::create(*state, std::move(options)).value();
        const ir::Graph& graph = state->program().graphs[state->program().main];
        past_k = graph.inputs[2].operand.items[0];
        past_v = graph.inputs[3].operand.items[0];
        if (!carried) return;
        EXPECT_TRUE(engine->carry(graph.outputs[1].operand.items[0], past_k));
        EXPECT_TRUE(engine->carry(graph.outputs[2].operand.items[0], past_v));
    }

    // Runs from bytes to bytes; empty if the run fails.
    std::vector<float> step(int64_t first, int64_t count, int64_t at = 1) {
        const Array x = tokens(first, count);
        const std::vector<float> elements(x.reals.begin(), x.reals.end());
        const std::vector<int64_t> shape = {count, kWidth}, none = {2, 0, 4};
        const std::vector<Engine::Bytes> inputs = {
            {tensor::DType::F32, shape, elements.data()},
            {tensor::DType::I64, {}, &at},
            {tensor::DType::F32, none, nullptr},
            {tensor::DType::F32, none, nullptr},
        };
        std::vector<float> y;
        const auto done = engine->run_directly(inputs, [&](const Engine::Output& made) {
            if (made.carried) return Result<void>();
            const auto* const data = static_cast<const float*>(made.data);
            y.assign(data, data + made.bytes / sizeof(float));
            return Result<void>();
        });
        EXPECT_TRUE(done);
        return done && *done ? y : std::vector<float>();
    }
    ir::TensorId input(size_t port) const {
        return state->program().graphs[state->program().main].inputs[port].operand.items[0];
    }
    size_t kernels() const {
        const codegen::CompilerStats& stats = engine->compiler_stats();
        return stats.kernels + stats.cached + stats.reused;
    }
};

// All tokens in one run of the interpreter.
std::vector<double> prefilled(int64_t count) {
    const auto oracle = load_text(kAttention, testing_support::small_weight);
    const auto want = run_interpreter(*oracle, inputs_of(0, count, nothing(), nothing()));
    EXPECT_TRUE(want) << want.error().message;
    return want->at("y")[0].reals;
}

TEST(Growing, FindsInputsThatAnOutputContinues) {
    const auto state = load_text(kAttention);
    const ir::Program& program = state->program();
    const ir::Graph& graph = program.graphs[program.main];
    const ir::TensorId past = graph.inputs[2].operand.items[0];
    const auto growing = engine::growing_extents(program);
    ASSERT_EQ(growing.size(), 1U);
    EXPECT_EQ(growing[0], program.tensors[past].shape[1]);
    const auto axis = engine::growing_axis(program, past, graph.outputs[1].operand.items[0]);
    EXPECT_EQ(axis, std::optional<size_t>(1));
    EXPECT_FALSE(engine::growing_axis(program, past, graph.outputs[0].operand.items[0]));
    const auto other = load_text(R"(
import math;
graph Same { @input { x: real[n|9, 2]; } @output { y: real[n, 2]; } @compose { y = math.neg(x); } })");
    EXPECT_TRUE(engine::growing_extents(other->program()).empty());
}

TEST(Growing, OneTokenAfterAnotherIsTheWholeTextInBothEngines) {
    const std::vector<double> want = prefilled(12);
    const auto slow = load_text(kAttention, testing_support::small_weight);
    Decoder fast({.verify = true}, false);
    Array k = nothing(), v = nothing();
    for (int64_t token = 0; token < 12; ++token) {
        const NamedArrays inputs = inputs_of(token, 1, k, v);
        const auto one = run_interpreter(*slow, inputs);
        const auto other = fast.engine->run(inputs);
        ASSERT_TRUE(one) << one.error().message;
        ASSERT_TRUE(other) << other.error().message;
        for (size_t i = 0; i < kWidth; ++i) {
            const double all = want[static_cast<size_t>(token * kWidth) + i];
            ASSERT_NEAR(one->at("y")[0].reals[i], all, 1e-6) << token;
            ASSERT_NEAR(other->at("y")[0].reals[i], all, 2e-5) << token;
        }
        k = other->at("k")[0];
        v = other->at("v")[0];
        ASSERT_EQ(k.shape, (tensor::Shape{2, token + 1, 4}));
    }
}

TEST(Growing, LongerInputsCompileNothing) {
    Decoder decoder({});
    ASSERT_EQ(decoder.step(0, 3).size(), 24U);
    ASSERT_EQ(decoder.step(3, 1).size(), 8U);
    const size_t kernels = decoder.kernels();
    EXPECT_GT(kernels, 0U);
    for (int64_t token = 4; token < 40; ++token) ASSERT_EQ(decoder.step(token, 1).size(), 8U);
    EXPECT_EQ(decoder.kernels(), kernels);
}

// Memory between inaccessible pages; the room grows several times.
TEST(Growing, CarriedValuesAreExtendedInPlace) {
    const std::vector<double> want = prefilled(16);
    for (const int threads : {1, 2}) {
        for (const bool guarded : {false, true}) {
            Decoder decoder({.verify = true, .threads = threads, .guarded = guarded});
            expect_near(decoder.step(0, 5), want, 0);
            EXPECT_TRUE(decoder.engine->plan().carried.empty());  // nothing to continue
            expect_near(decoder.step(5, 1), want, 5 * kWidth);
            EXPECT_EQ(decoder.engine->plan().carried.size(), 2U);
            const void* const before = decoder.engine->carried(decoder.past_k)->data();
            expect_near(decoder.step(6, 3), want, 6 * kWidth);
            for (int64_t token = 9; token < 16; ++token) {
                expect_near(decoder.step(token, 1), want, static_cast<size_t>(token * kWidth));
            }
            const auto* const value = decoder.engine->carried(decoder.past_k);
            EXPECT_EQ(value->shape(), (tensor::Shape{2, 16, 4}));
            EXPECT_EQ(value->data(), before);
        }
    }
}

TEST(Growing, CarriedValuesKeepTheirElementsWhenTheirRoomGrows) {
    Decoder carried({}), given({}, false);
    Array k = nothing(), v = nothing();
    int64_t room = 0, moves = 0;
    for (int64_t token = 0; token < 300; ++token) {
        const auto want = given.engine->run(inputs_of(token, 1, k, v));
        ASSERT_TRUE(want) << want.error().message;
        k = want->at("k")[0];
        v = want->at("v")[0];
        expect_near(carried.step(token, 1), want->at("y")[0].reals, 0);
        moves += carried.engine->carried(carried.past_k)->room() != room;
        room = carried.engine->carried(carried.past_k)->room();
    }
    EXPECT_GT(moves, 2);
    EXPECT_LT(moves, 10);
    const tensor::Tensor kept = carried.engine->carried(carried.past_v)->value().value();
    ASSERT_EQ(kept.shape(), v.shape);
    for (int64_t i = 0; i < kept.size(); ++i) {
        ASSERT_NEAR(kept.real(i), v.reals[static_cast<size_t>(i)], 1e-6) << i;
    }
}

TEST(Growing, AFailedRunLeavesCarriedValues) {
    const std::vector<double> want = prefilled(4);
    Decoder decoder({});
    expect_near(decoder.step(0, 2), want, 0);
    expect_near(decoder.step(2, 1), want, 2 * kWidth);
    EXPECT_TRUE(decoder.step(9, 1, 77).empty());  // there is no such row
    EXPECT_EQ(decoder.engine->carried(decoder.past_k)->shape(), (tensor::Shape{2, 3, 4}));
    expect_near(decoder.step(3, 1), want, 3 * kWidth);
}

TEST(Growing, CarriedValuesCanBeSetAndDropped) {
    const std::vector<double> want = prefilled(3);
    Decoder decoder({});
    expect_near(decoder.step(0, 2), want, 0);
    const tensor::Tensor k = decoder.engine->carried(decoder.past_k)->value().value();
    const tensor::Tensor v = decoder.engine->carried(decoder.past_v)->value().value();
    expect_near(decoder.step(2, 1), want, 2 * kWidth);
    ASSERT_TRUE(decoder.engine->set_carried(decoder.past_k, k));
    ASSERT_TRUE(decoder.engine->set_carried(decoder.past_v, v));
    expect_near(decoder.step(2, 1), want, 2 * kWidth);
    decoder.engine->drop_carried();
    EXPECT_EQ(decoder.engine->carried(decoder.past_k), nullptr);
    expect_near(decoder.step(0, 2), want, 0);
}

TEST(Growing, RefusesPairsThatCannotBeCarried) {
    Decoder decoder({});
    const ir::Graph& graph = decoder.state->program().graphs[decoder.state->program().main];
    const ir::TensorId y = graph.outputs[0].operand.items[0];
    EXPECT_FALSE(decoder.engine->carry(y, decoder.past_k));    // another rank
    EXPECT_FALSE(decoder.engine->carry(y, decoder.input(1)));  // another type
    EXPECT_FALSE(decoder.engine->carry(graph.outputs[1].operand.items[0], decoder.past_v));
    EXPECT_TRUE(decoder.engine->carry(y, decoder.input(0)));  // the same shape in each run
}

}  // namespace
}  // namespace lemma
