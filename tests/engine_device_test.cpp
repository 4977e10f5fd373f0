// SPDX-License-Identifier: Apache-2.0
// Plans for a device against the interpreter, on a device without hardware: what the processor and
// the device write is where the other one reads it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "engine/engine.h"
#include "interpret/random.h"
#include "session/tensors.h"
#include "support/engine_models.h"
#include "support/test_device.h"

namespace lemma {
namespace {

using engine::Engine;
using interpret::Array;
using interpret::NamedArrays;
using testing::TestDevice;
using testing_support::load_text;
using testing_support::run_interpreter;
using testing_support::small_weight;

engine::EngineOptions options_of(const std::shared_ptr<TestDevice>& device) {
    return {.verify = true,
            .threads = 2,
            .device = device,
            .load_kernel = [device = device.get()](const loop::Function& function) {
                return device->add(function);
            }};
}

// Relative to each element.
void expect_equal(const NamedArrays& got,
                  const NamedArrays& want,
                  double tolerance,
                  const std::string& text) {
    for (const auto& [name, items] : want) {
        for (size_t k = 0; k < items.size(); ++k) {
            const Array& a = got.at(name)[k];
            const Array& b = items[k];
            ASSERT_EQ(a.shape, b.shape) << name << text;
            EXPECT_EQ(a.integers, b.integers) << name << text;
            for (size_t i = 0; i < b.reals.size(); ++i) {
                ASSERT_NEAR(a.reals[i], b.reals[i], tolerance * (1 + std::fabs(b.reals[i])))
                    << name << "." << k << "[" << i << "]" << text;
            }
        }
    }
}

struct Counts {
    size_t on_device = 0, on_processor = 0, interpreted = 0;
    std::string schedule;  // of a sum of products
    int64_t replays = 0;
};

struct Runs {
    int count = 3;  // with changing inputs
    loop::Numerics numerics = loop::Numerics::Default;
    ir::DType real = ir::DType::F32;
    std::function<void(ir::Program&)> types = [](ir::Program&) {};  // changes them
    testing_support::WeightOf weight = small_weight;

    double tolerance() const {
        if (real != ir::DType::F32) return real == ir::DType::F16 ? 2e-3 : 2e-2;
        return numerics == loop::Numerics::Fast ? 2e-3 : 1e-5;
    }
};
const Runs kOneRun{1};

Counts compare(const std::string& body,
               const Runs& runs = {},
               const std::function<void(NamedArrays&, int)>& change = {}) {
    const std::string text = "import layout; import linalg; import math; import nn;\n" + body;
    const auto oracle = load_text(text, runs.weight, runs.real, runs.types);
    const auto own = load_text(text, runs.weight, runs.real, runs.types);
    Counts counts;
    if (!oracle || !own) return counts;
    const auto device = std::make_shared<TestDevice>();
    {
        engine::EngineOptions options = options_of(device);
        options.compiler.numerics = runs.numerics;
        auto engine = Engine::create(*own, options);
        EXPECT_TRUE(engine) << engine.error().message;
        for (int run = 0; run < runs.count; ++run) {
            NamedArrays inputs;
            EXPECT_TRUE(session::add_random_inputs(oracle->program(), 3 + run, inputs));
            if (change) change(inputs, run);
            const auto want = run_interpreter(*oracle, inputs);
            const auto got = (*engine)->run(inputs);
            EXPECT_TRUE(want && got) << (got ? "" : got.error().message) << text;
            if (!want || !got) return counts;
            expect_equal(
                *got, *want, runs.tolerance(), "\nrun " + std::to_string(run) + "\n" + text);
        }
        const loop::Plan& plan = (*engine)->plan();
        for (size_t i = 0; i < plan.steps.size(); ++i) {
            const loop::ScheduledKernel* const kernel = plan.steps[i].kernel();
            const bool product = kernel && (kernel->schedule.starts_with("tile") ||
                                            kernel->schedule.starts_with("matrices"));
            if (product) counts.schedule = kernel->schedule;
            const bool there = (*engine)->runs_on_device(i);
            counts.on_device += there;
            counts.on_processor += plan.steps[i].kernel() && !there;
            counts.interpreted += plan.steps[i].is<loop::InterpretedStep>();
        }
        EXPECT_GE(device->launches(), runs.count) << text;
        counts.replays = device->replays();
    }
    EXPECT_EQ(device->pieces(), 0) << "memory of the device that nobody freed" << text;
    return counts;
}

TEST(EngineDevice, LayersAndEpilogues) {
    const Counts counts = compare(R"(
graph G {
    @input { x: real[2, 3, 9, 9]; }
    @output { y: real[2, 7]; }
    @variable { w: real[5, 3, 3, 3]; b: real[5]; v: real[5, 7]; }
    @compose {
        a = nn.conv{stride=[2, 2], padding=[1, 1, 1, 1]}(x, w, b);
        d = nn.relu(a);
        f = math.mean_reduce{axes=[2, 3], squeeze=true}(d);
        g = linalg.matmul(f, v);
        y = nn.softmax{axes=[1]}(g);
    }
})");
    EXPECT_GT(counts.on_device, 2);
    EXPECT_EQ(counts.on_processor, 0);
    EXPECT_EQ(counts.replays, 2);
}

// A sum of products with so many points, lanes and steps.
std::string product(int64_t points, int64_t lanes, int64_t steps) {
    return fmt::format(R"(
graph G {{
    @input {{ a: real[{0}, {2}]; b: real[{2}, {1}]; c: real[{0}, {1}]; }}
    @output {{ y: real[{0}, {1}]; }}
    @compose {{ p = linalg.matmul(a, b); s = math.add(p, c); y = nn.relu(s); }}
}})",
                       points,
                       lanes,
                       steps);
}

// Tiles at the edges, steps that do not fill a section, chunks that lie apart.
TEST(EngineDevice, ProductsOfMatrices) {
    EXPECT_EQ(compare(product(33, 40, 24), kOneRun).schedule, "tile 32x64 of threads");
    EXPECT_GT(compare(product(8, 64, 8), kOneRun).on_device, 0);
    compare(product(19, 35, 21), kOneRun);
    compare(product(40, 9, 50), kOneRun);
    compare(R"(
graph G {
    @input { a: real[3, 2, 13, 17]; b: real[3, 2, 13, 18]; }
    @output { y: real[3, 2, 17, 18]; }
    @compose { y = linalg.matmul{transA=true}(a, b); }
})",
            kOneRun);
    compare(R"(
graph G {
    @input { a: real[2, 20, 12]; }
    @output { y: real[2, 20, 24]; }
    @variable { w: real[24, 12]; }
    @compose { y = linalg.matmul{transB=true}(a, w); }
})",
            kOneRun);
}

const std::string kDistances = R"(
operator distances {
    @input { x: real[n, d]; y: real[m, d]; }
    @output { z: real[n, m]; }
    @lower { z[i, j] += (x[i, k] - y[j, k]) ** 2.0, i < n, j < m, k < d; }
}
)";

// Steps that are no products.
TEST(EngineDevice, DistancesOfRows) {
    const Counts counts = compare(kDistances + R"(
graph G {
    @input { x: real[20, 48]; y: real[18, 48]; u: real[20, 21]; v: real[18, 21]; }
    @output { z: real[20, 18]; w: real[20, 18]; }
    @compose { z = distances(x, y); w = distances(u, v); }
})",
                                  kOneRun);
    EXPECT_TRUE(counts.schedule.starts_with("tile")) << counts.schedule;
}

// Sums of products have lost the digits of distances between near rows. Tiles with such rows are
// summed again as written.
TEST(EngineDevice, DistancesOfNearRows) {
    const Counts counts = compare(kDistances + R"(
graph G {
    @input { x: real[70, 32]; y: real[18, 32]; }
    @output { z: real[70, 70]; w: real[70, 18]; }
    @compose {
        a = math.add(x, 300.0);
        z = distances(a, a);
        w = distances(a, y);
    }
})",
                                  kOneRun);
    EXPECT_TRUE(counts.schedule.starts_with("tile")) << counts.schedule;
}

TEST(EngineDevice, SlicesAndPartsOfLongSums) {
    const Counts slices = compare(product(8, 9, 136), kOneRun);
    EXPECT_TRUE(slices.schedule.contains("slices")) << slices.schedule;
    const Counts parts = compare(product(8, 8, 512), kOneRun);
    EXPECT_EQ(parts.on_device, 2);
}

TEST(EngineDevice, Convolutions) {
    compare(R"(
graph G {
    @input { x: real[1, 5, 9, 11]; }
    @output { y: real[1, 16, 9, 11]; }
    @variable { w: real[16, 5, 3, 3]; b: real[16]; }
    @compose { c = nn.conv{padding=[1, 1, 1, 1]}(x, w, b); y = nn.relu(c); }
})",
            kOneRun);
    compare(R"(
graph G {
    @input { x: real[2, 8, 9, 7]; }
    @output { y: real[2, 16, 5, 4]; }
    @variable { w: real[16, 4, 3, 3]; b: real[16]; v: real[8, 8, 1, 1]; }
    @compose {
        c = nn.conv(x, v);
        y = nn.conv{padding=[1, 1, 1, 1], stride=[2, 2], groups=2}(c, w, b);
    }
})",
            kOneRun);
}

// Warps multiply floats of 10 bits.
TEST(EngineDevice, MatrixProducts) {
    for (const auto& [points, lanes, steps] :
         {std::array{33, 40, 24}, {16, 32, 9}, {70, 66, 40}, {12, 20, 200}}) {
        const Counts counts = compare(product(points, lanes, steps), {1, loop::Numerics::Fast});
        EXPECT_TRUE(counts.schedule.starts_with("matrices")) << counts.schedule;
    }
}

// Numbers of 16 bits, in pairs where they lie side by side.
TEST(EngineDevice, ProductsOfHalves) {
    for (const ir::DType type : {ir::DType::F16, ir::DType::BF16}) {
        for (const auto& [points, lanes, steps] :
             {std::array{33, 40, 24}, {20, 30, 18}, {17, 35, 21}, {9, 40, 120}, {8, 9, 1024}}) {
            const std::string text = fmt::format(R"(
graph G {{
    @input {{ a: real[{0}, {2}]; r: real[{0}, {1}]; }}
    @output {{ y: real[{0}, {1}]; z: real[{0}, {0}]; }}
    @variable {{ w: real[{2}, {1}]; }}
    @compose {{
        p = linalg.matmul(a, w);
        y = math.add(p, r);
        z = linalg.matmul{{transB=true}}(a, a);
    }}
}})",
                                                 points,
                                                 lanes,
                                                 steps);
            const Counts counts = compare(text, {1, loop::Numerics::Default, type});
            EXPECT_TRUE(counts.schedule.starts_with("matrices")) << counts.schedule;
        }
    }
}

// Bytes in groups of four, where they lie side by side or a halo fills the last group; weights, and
// factors that change.
TEST(EngineDevice, ProductsOfBytes) {
    constexpr const char* kText = R"(
operator conv {{
    @attrib {{ pad: int; stride: int; }}
    @input {{ x: int[c, h, w]; f: int[m, c, k, l]; }}
    @using {{ v = (h + 2 * pad - k) / stride + 1; u = (w + 2 * pad - l) / stride + 1; }}
    @output {{ y: int[m, v, u]; }}
    @lower {{
        y[o, i, j] = 7, o < m, i < v, j < u;
        y[o, i, j] += x[a, |stride * i + p - pad|, |stride * j + q - pad|] * f[o, a, p, q],
            o < m, i < v, j < u, a < c, p < k, q < l;
    }}
}}
operator scaled {{
    @input {{ y: int[m, v, u]; }}
    @output {{ z: real[m, v, u]; }}
    @lower {{ z[o, i, j] = real(y[o, i, j]) * 0.25, o < m, i < v, j < u; }}
}}
graph G {{
    @input {{ x: int[{0}, {1}, {2}]; {9} }}
    @output {{ y: int[{3}, {7}, {8}]; z: real[{3}, {7}, {8}]; }}
    {10}
    @compose {{ y = conv{{pad={5}, stride={6}}}(x, f); z = scaled(y); }}
}})";
    struct Sizes {
        int channels, height, width, outputs, kernel, pad, stride;
    };
    constexpr Sizes kSizes[] = {{64, 8, 10, 32, 1, 0, 1},
                                {8, 7, 9, 21, 3, 1, 1},
                                {12, 13, 11, 40, 3, 1, 2},
                                {256, 3, 4, 17, 1, 0, 1},
                                {3, 9, 9, 16, 3, 1, 1},
                                {2, 5, 17, 9, 2, 0, 1}};
    using ir::DType;
    constexpr DType kTypes[][2] = {{DType::U8, DType::I8},
                                   {DType::I8, DType::I8},
                                   {DType::U8, DType::U8},
                                   {DType::I8, DType::U8}};
    const auto bytes = [](NamedArrays& inputs, int) { testing_support::fill_with_bytes(inputs); };
    // Each pair of types with weights and without.
    for (size_t size = 0; size < std::size(kSizes); ++size) {
        const Sizes& s = kSizes[size];
        for (const bool weights : {false, true}) {
            const auto& [x, f] = kTypes[(size + (weights ? 1 : 0)) % std::size(kTypes)];
            const std::string declared =
                fmt::format("f: int[{0}, {1}, {2}, {2}];", s.outputs, s.channels, s.kernel);
            const std::string text = fmt::format(kText,
                                                 s.channels,
                                                 s.height,
                                                 s.width,
                                                 s.outputs,
                                                 s.kernel,
                                                 s.pad,
                                                 s.stride,
                                                 (s.height + 2 * s.pad - s.kernel) / s.stride + 1,
                                                 (s.width + 2 * s.pad - s.kernel) / s.stride + 1,
                                                 weights ? "" : declared,
                                                 weights ? "@variable { " + declared + " }" : "");
            Runs runs = kOneRun;
            runs.types = testing_support::with_types(x, f, DType::I32);
            runs.weight = [&](const std::string&, uint64_t i) {
                const auto value = static_cast<double>(interpret::random_bits(5, i) % 256);
                return f == DType::I8 ? value - 128 : value;
            };
            const Counts counts = compare(text, runs, bytes);
            EXPECT_TRUE(counts.schedule.starts_with("matrices")) << counts.schedule;
            EXPECT_EQ(counts.on_processor, 0) << text;
        }
    }
}

// Expand, filter each channel, project, add; channels that fill vectors, and others.
TEST(EngineDevice, BlocksOfHalves) {
    for (const int channels : {18, 32}) {
        compare(fmt::format(R"(
graph G {{
    @input {{ x: real[1, 6, 8, 8]; }}
    @output {{ y: real[1, 6, 8, 8]; z: real[1, 6, 4, 4]; m: real[1, {0}]; }}
    @variable {{
        w: real[{0}, 6, 1, 1]; b: real[{0}]; d: real[{0}, 1, 3, 3]; e: real[{0}];
        v: real[6, {0}, 1, 1];
    }}
    @compose {{
        a = nn.conv(x, w, b);
        c = math.clamp(a, 0.0, 6.0);
        f = nn.conv{{padding=[1, 1, 1, 1], groups={0}}}(c, d, e);
        g = math.clamp(f, 0.0, 6.0);
        h = nn.conv(g, v);
        y = math.add(h, x);
        i = nn.conv{{padding=[1, 1, 1, 1], stride=[2, 2], groups={0}}}(c, d, e);
        j = math.clamp(i, 0.0, 6.0);
        z = nn.conv(j, v);
        m = math.mean_reduce{{axes=[2, 3], squeeze=true}}(j);
    }}
}})",
                            channels),
                {1, loop::Numerics::Default, ir::DType::F16});
    }
}

// Few elements and long sums: groups add them together.
TEST(EngineDevice, SumsOfGroups) {
    compare(R"(
graph G {
    @input { x: real[3, 700]; w: real[700, 5]; }
    @output { y: real[3, 5]; s: real[3]; m: real[]; b: bool[3]; }
    @compose {
        y = linalg.matmul(x, w);
        s = math.sum_reduce{axes=[1], squeeze=true}(x);
        m = math.max_reduce{squeeze=true}(x);
        large = math.gt(x, 0.5);
        b = math.any_reduce{axes=[1], squeeze=true}(large);
    }
})");
}

// One long scan must keep its order: the processor does it.
TEST(EngineDevice, KernelsOfTheProcessorInBetween) {
    const Counts counts = compare(R"(
graph G {
    @input { x: real[300, 6]; v: real[6, 1]; }
    @output { y: real[6, 1]; z: real[300, 1]; }
    @compose {
        a = linalg.matmul(x, v);
        s = math.cumsum{axis=0}(a);
        y = linalg.matmul{transA=true}(x, s);
        z = math.sin(a);
    }
})");
    EXPECT_GT(counts.on_device, 0);
    EXPECT_EQ(counts.on_processor, 1);
}

// Items of 12 bytes begin at no whole vectors.
TEST(EngineDevice, LoopsMoveValuesOnTheDevice) {
    compare(R"(
graph G {
    @input { a: real[9, 9]; n: int[]; }
    @output { y: real[9, 9]; }
    @compose {
        start = layout.uniform{shape=[9, 9]}(0.5);
        y = with p = start do..(n) linalg.matmul(p, a);
    }
})",
            {},
            [](NamedArrays& inputs, int run) { inputs["n"][0].integers[0] = run * 2; });
    compare(R"(
graph G {
    @input { x: real[6, 3]; y: real[6, 3]; z: real[3]; }
    @output { sums: real[6, 3]; befores: real[6, 3]; last: real[3]; }
    @compose {
        xs..(6) = layout.unstack{axis=0}(x);
        ys..(6) = layout.unstack{axis=0}(y);
        last, s..(6), b..(6) = with p = z for v : xs, w : ys do..(i ->) {
            m = math.mul(v, w);
            q = math.add(m, p);
            yield q, q, p;
        };
        sums = layout.stack{axis=0}(s);
        befores = layout.stack{axis=0}(b);
    }
})");
}

// The processor looks at conditions that the device has computed.
TEST(EngineDevice, ConditionsAndInterpretedSteps) {
    const Counts counts = compare(R"(
graph G {
    @input { x: real[20]; }
    @output { z: real[20]; y: real[20]; at: int[2, ~|20]; }
    @compose {
        z = with s = x do {
            t = math.mul(s, 0.7);
            yield t;
        } while {
            size = math.abs(s);
            largest = math.max_reduce{squeeze=true}(size);
            more = math.gt(largest, 0.1);
            yield more;
        };
        far = math.gt(z, 0.05);
        pairs = layout.stack{axis=0}([far, far]);
        both = layout.cast<int>(pairs);
        at = layout.nonzero(both);
        y = math.add(z, 1.0);
    }
})");
    EXPECT_GT(counts.interpreted, 0);
}

// Variables that runs change.
TEST(EngineDevice, UpdatesAreSeenByTheNextRun) {
    compare(R"(
graph G {
    @input { x: real[8]; }
    @output { y: real[8]; }
    @variable { s: real[8]; }
    @update { s = t; }
    @compose {
        t = math.add(s, x);
        y = math.mul(t, 2.0);
    }
})");
}

TEST(EngineDevice, ReportsAnIndexOutsideOfItsTensor) {
    const auto own = load_text(R"(import layout;
graph G {
    @input { x: real[4]; i: int[3]; }
    @output { y: real[3]; }
    @compose { y = layout.gather{axis=0}(x, i); }
})");
    ASSERT_TRUE(own);
    const auto device = std::make_shared<TestDevice>();
    auto engine = Engine::create(*own, options_of(device));
    ASSERT_TRUE(engine) << engine.error().message;
    NamedArrays inputs = testing_support::random_inputs(own->program());
    inputs["i"][0].integers = {0, 9, 1};
    EXPECT_FALSE((*engine)->run(inputs));
    EXPECT_FALSE((*engine)->device_failed());
    inputs["i"][0].integers = {0, 3, 1};
    const auto good = (*engine)->run(inputs);
    ASSERT_TRUE(good) << good.error().message;
    EXPECT_EQ(good->at("y")[0].reals[1], inputs["x"][0].reals[3]);
}

// ---- Runs ---------------------------------------------------------------------------------------

constexpr const char* kProduct = R"(import linalg; import nn;
graph G {
    @input { x: real[4, 16]; }
    @output { y: real[4, 12]; }
    @variable { w: real[16, 12]; v: real[12, 12]; }
    @compose { p = linalg.matmul(x, w); r = nn.relu(p); y = linalg.matmul(r, v); }
})";
constexpr int64_t kWeightBytes = (16 + 12) * 12 * 4;

Result<std::optional<tensor::Tensor>> quarters(const ir::Tensor& wanted) {
    LEMMA_TRY(auto values, tensor::Tensor::zeros(wanted.dtype, {wanted.name == "w" ? 16 : 12, 12}));
    for (int64_t i = 0; i < values.size(); ++i) values.set_real(i, 0.25);
    return values;
}

class DeviceRuns : public ::testing::Test {
protected:
    DeviceRuns() : state(load_text(kProduct)) {
        state->reset_variables();  // engines share code if the weights are those of the program
        options = options_of(device);
        options.weights = quarters;
        auto made = engine::SharedCode::create({}, device);
        EXPECT_TRUE(made);
        shared = std::move(*made);
    }
    std::unique_ptr<Engine> make() {
        auto engine = Engine::create(*state, options, shared);
        EXPECT_TRUE(engine);
        return std::move(*engine);
    }
    // The first element of the output for inputs that are all x.
    Result<float> run_bytes(Engine& engine, float x, bool with_room) {
        const std::vector<float> input(4 * 16, x);
        const int64_t shape[] = {4, 16};
        const Engine::Bytes bytes{tensor::DType::F32, shape, input.data()};
        std::vector<float> room(with_room ? 4 * 12 : 0);
        const Engine::Room rooms[] = {{room.data(), room.size() * 4}};
        float result = 0;
        const auto receive = [&](const Engine::Output& made) -> Result<void> {
            EXPECT_EQ(made.bytes, 4U * 12 * 4);
            EXPECT_EQ(made.data == room.data(), with_room);
            result = static_cast<const float*>(made.data)[0];
            return {};
        };
        LEMMA_TRY(const bool done, engine.run_directly({&bytes, 1}, receive, rooms));
        if (!done) return std::unexpected(Error{"not from bytes to bytes"});
        return result;
    }

    std::shared_ptr<TestDevice> device = std::make_shared<TestDevice>();
    std::unique_ptr<interpret::State> state;
    engine::EngineOptions options;
    std::shared_ptr<engine::SharedCode> shared;
};

constexpr float kFactor = 16 * 0.25F * 12 * 0.25F;  // from an input to an output

TEST_F(DeviceRuns, CopyInputsAndOutputsOnly) {
    const auto engine = make();
    ASSERT_TRUE(engine->run(testing_support::random_inputs(state->program())));
    for (const float x : {1.0F, 2.0F, 0.5F}) {
        const int64_t up = device->uploaded(), down = device->downloaded();
        const auto result = run_bytes(*engine, x, x != 2.0F);
        ASSERT_TRUE(result) << result.error().message;
        EXPECT_EQ(*result, x * kFactor);
        EXPECT_EQ(device->uploaded() - up, 4 * 16 * 4);
        EXPECT_EQ(device->downloaded() - down, 4 * 12 * 4);
    }
    EXPECT_EQ(device->replays(), 3);
}

TEST_F(DeviceRuns, SessionsShareWeights) {
    std::vector<std::unique_ptr<Engine>> engines;
    const NamedArrays inputs = testing_support::random_inputs(state->program());
    int64_t alone = 0;
    for (int i = 0; i < 4; ++i) {
        engines.push_back(make());
        ASSERT_TRUE(engines.back()->run(inputs));
        if (i == 0) alone = device->bytes();
        const auto result = run_bytes(*engines.back(), 3.0F, true);
        ASSERT_TRUE(result) << result.error().message;
        EXPECT_EQ(*result, 3 * kFactor);
    }
    // Weights, and for each session the input, the output and what is between them.
    const int64_t own = (4 * 16 + 2 * 4 * 12) * 4 + 4 * 128;
    EXPECT_GE(alone, kWeightBytes);
    EXPECT_LE(alone, kWeightBytes + own);
    EXPECT_LE(device->bytes(), kWeightBytes + 4 * own);
    // While weights are packed, one of them is there in its other order, too.
    EXPECT_LE(device->most_bytes(), 2 * kWeightBytes + 4 * own);
    engines.clear();
    shared = nullptr;
    EXPECT_EQ(device->pieces(), 0) << "memory of the device that nobody freed";
}

// Engines that update a variable do it on the device.
TEST(EngineDevice, UpdatesStayOnTheDevice) {
    const auto state = load_text(R"(import math;
graph G {
    @input { x: real[8]; }
    @output { y: real[8]; }
    @variable { s: real[8]; }
    @update { s = t; }
    @compose { t = math.add(s, x); y = math.mul(t, 2.0); }
})",
                                 [](const std::string&, uint64_t) { return 1.0; });
    ASSERT_TRUE(state);
    const auto device = std::make_shared<TestDevice>();
    const auto engine = Engine::create(*state, options_of(device));
    ASSERT_TRUE(engine);
    const std::vector<float> x(8, 1.0F);
    const int64_t shape[] = {8};
    const Engine::Bytes input{tensor::DType::F32, shape, x.data()};
    ASSERT_TRUE((*engine)->prepare(testing_support::random_inputs(state->program())));
    float last = 0;
    for (int run = 0; run < 5; ++run) {
        const int64_t up = device->uploaded(), down = device->downloaded();
        const auto done = (*engine)->run_directly({&input, 1}, [&](const Engine::Output& made) {
            last = static_cast<const float*>(made.data)[0];
            return Result<void>();
        });
        ASSERT_TRUE(done && *done);
        EXPECT_EQ(last, 2.0F * static_cast<float>(run + 2));
        if (run == 0) continue;
        EXPECT_EQ(device->uploaded() - up, 32);
        EXPECT_EQ(device->downloaded() - down, 32);
    }
    ASSERT_TRUE((*engine)->store_variables());
    EXPECT_EQ(state->variable("s")->reals[0], 6.0);
}

}  // namespace
}  // namespace lemma
