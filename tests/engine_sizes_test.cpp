// SPDX-License-Identifier: Apache-2.0
// Sizes and indices at the limits of 64 bits, in both engines: empty tensors with huge extents,
// windows that reach far outside, and overflow in index arithmetic. Compiled kernels run on memory
// between inaccessible pages.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/engine.h"
#include "runtime/memory.h"
#include "session/tensors.h"
#include "support/engine_models.h"
#include "tensor/room.h"

namespace lemma {
namespace {

using engine::Engine;
using interpret::Array;
using interpret::NamedArrays;
using testing_support::load_text;
using testing_support::run_interpreter;

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

std::vector<Array> ints(tensor::Shape shape, std::vector<int64_t> values) {
    Array array = *Array::zeros(tensor::DType::I64, std::move(shape));
    array.integers = std::move(values);
    return {array};
}
std::vector<Array> reals(tensor::Shape shape, std::vector<double> values) {
    Array array = *Array::zeros(tensor::DType::F32, std::move(shape));
    array.reals = std::move(values);
    return {array};
}

struct Ran {
    Result<NamedArrays> interpreted, compiled;
};
std::optional<Ran> run(const std::string& text, const NamedArrays& inputs, bool fuse) {
    const auto state = load_text(text);
    if (!state) return std::nullopt;
    engine::EngineOptions options;
    options.verify = true;
    options.fuse = fuse;
    options.least_steps = 1;
    options.guarded = true;
    auto engine = Engine::create(*state, options);
    EXPECT_TRUE(engine);
    if (!engine) return std::nullopt;
    NamedArrays all = inputs;
    EXPECT_TRUE(session::add_random_inputs(state->program(), 3, all));
    return Ran{run_interpreter(*state, all), (*engine)->run(all)};
}

// Both engines give the same; returns the outputs of the interpreter.
NamedArrays outputs(const std::string& text, const NamedArrays& inputs = {}) {
    NamedArrays result;
    for (const bool fuse : {true, false}) {
        const auto ran = run(text, inputs, fuse);
        if (!ran) return {};
        EXPECT_TRUE(ran->interpreted) << text;
        EXPECT_TRUE(ran->compiled) << text;
        if (!ran->interpreted || !ran->compiled) return {};
        for (const auto& [name, arrays] : *ran->interpreted) {
            for (size_t i = 0; i < arrays.size(); ++i) {
                const Array& got = ran->compiled->at(name)[i];
                EXPECT_EQ(got.shape, arrays[i].shape) << name << text;
                EXPECT_EQ(got.integers, arrays[i].integers) << name << text;
                EXPECT_EQ(got.reals.size(), arrays[i].reals.size()) << name << text;
                for (size_t k = 0; k < std::min(got.reals.size(), arrays[i].reals.size()); ++k) {
                    EXPECT_NEAR(got.reals[k], arrays[i].reals[k], 1e-5) << name << text;
                }
            }
        }
        result = *ran->interpreted;
    }
    return result;
}

// The message of the interpreter; the engine fails, too. A session asks the interpreter for the
// reason.
std::string failure(const std::string& text, const NamedArrays& inputs = {}) {
    std::string message;
    for (const bool fuse : {true, false}) {
        const auto ran = run(text, inputs, fuse);
        if (!ran) return {};
        EXPECT_FALSE(ran->interpreted) << text;
        EXPECT_FALSE(ran->compiled) << text;
        if (ran->interpreted || ran->compiled) return {};
        message = ran->interpreted.error().message;
    }
    return message;
}

// ---- Empty tensors ------------------------------------------------------------------------------

TEST(EngineSizes, TensorsWithoutElementsHaveAnyExtents) {
    for (const char* shape : {"4611686018427125760, 0",
                              "0, 4611686018427125760",
                              "4611686018158952448, 0, 268435456",
                              "9223372036854775807, 9223372036854775807, 0"}) {
        const NamedArrays out = outputs(fmt::format(R"(import math; import layout;
graph G {{
    @input {{ x: real[4]; }}
    @output {{ w: real[]; z: real[{0}]; t: real[4]; }}
    @constant {{ c: real[{0}] = 0.0; }}
    @compose {{
        z = math.abs(c);
        w = math.sum_reduce{{squeeze = true}}(z);
        t = math.neg(x);
    }}
}})",
                                                    shape));
        ASSERT_EQ(out.size(), 3U);
        EXPECT_EQ(out.at("w")[0].reals, std::vector<double>{0});
        EXPECT_EQ(out.at("z")[0].size, 0);
    }
}

TEST(EngineSizes, WindowsOverNoElements) {
    const NamedArrays out = outputs(R"(import nn; import layout;
graph G {
    @input { x: real[1, 2, 0]; w: real[20, 2, 3]; }
    @output { y: real[1, 20, 2]; p: real[3]; }
    @compose {
        y = nn.conv{padding = [2, 2]}(x, w);
        r = layout.flatten(x);
        p = layout.pad{padding = [1, 2]}(r, 0.5);
    }
})");
    ASSERT_EQ(out.size(), 2U);
    EXPECT_EQ(out.at("y")[0].reals, std::vector<double>(40, 0.0));
    EXPECT_EQ(out.at("p")[0].reals, std::vector<double>(3, 0.5));
}

TEST(EngineSizes, NoElementsBesideSome) {
    outputs(R"(import math; import layout;
graph G {
    @input { x: real[2, 3]; e: real[2, 0]; }
    @output { y: real[2, 6]; z: real[2, 4]; }
    @compose {
        a = math.neg(x);
        b = math.neg(e);
        y = layout.concat{axis = 1}([a, x, b]);
        z = layout.pad{axes = [1], padding = [2, 2]}(b, 1.0);
    }
})");
}

TEST(EngineSizes, AnElementOfNoneIsAnError) {
    const std::string text = R"(
operator first {
    @input { x: real[n, m]; }
    @output { y: real[m]; }
    @lower { y[j,] = x[0, j], j < m; }
}
operator put {
    @attrib { n: int; }
    @input { x: real[m]; k: int[m]; }
    @output { y: real[m, n]; }
    @lower { y[i, j] = 0.0, i < m, j < n; y[i, k[i,]] := x[i,], i < m; }
}
graph G {
    @input { x: real[0, 20]; v: real[20]; k: int[20]; }
    @output { y: real[20]; z: real[20, 0]; }
    @compose {
        y = first(x);
        z = put{n = 0}(v, k);
    }
})";
    EXPECT_EQ(failure(text), "index 0 of `x` is outside of its extent 0");
}

TEST(EngineSizes, LoopsCarryNoElements) {
    outputs(R"(import math; import layout;
graph G {
    @input { x: real[0, 4611686018427387904]; }
    @output { y: real[0, 4611686018427387904]; }
    @compose {
        y = with s = x for i : [0:3] do { t = math.neg(s); yield t; };
    }
})");
}

TEST(EngineSizes, OperatorsWithoutFormulaTakeNoElements) {
    const NamedArrays out = outputs(R"(import algo; import layout;
graph G {
    @input { x: real[4611686018427387904, 0]; }
    @output { v: real[1, 0]; k: int[1, 0]; }
    @compose { v, k = algo.top_k{axis = 0, k = 1}(x); }
})");
    EXPECT_EQ(out.size(), 2U);
}

TEST(EngineSizes, MemoryIsRefusedWhereThereIsNone) {
    EXPECT_FALSE(runtime::Memory::zeros(-1));
    EXPECT_FALSE(runtime::Memory::zeros(kSmallest));
    EXPECT_FALSE(runtime::Memory::zeros(kLargest));
    EXPECT_FALSE(runtime::Memory::guarded_zeros(-1));
    EXPECT_TRUE(runtime::Memory::zeros(0));
    EXPECT_EQ(tensor::room({kLargest, 0}), std::nullopt);
    EXPECT_EQ(tensor::room({5, 0, 3}), 15);
    EXPECT_EQ(tensor::room({-1, 0}), std::nullopt);
    EXPECT_EQ(tensor::bounded_volume({kLargest, 0}), 0);
    EXPECT_EQ(tensor::bounded_volume({kLargest, 2}), std::nullopt);
    EXPECT_EQ(tensor::bounded_volume({tensor::kMaxElements + 1}), std::nullopt);
}

// ---- Indices ------------------------------------------------------------------------------------

constexpr const char* kLookups = R"(
operator plain {
    @attrib { a: int; b: int; }
    @input { x: real[m]; k: int[n]; }
    @output { y: real[n]; }
    @lower { y[i,] = x[a * k[i,] + b,], i < n; }
}
operator cyclic {
    @attrib { a: int; b: int; }
    @input { x: real[m]; k: int[n]; }
    @output { y: real[n]; }
    @lower { y[i,] = x[(a * k[i,] + b) % m,], i < n; }
}
operator clamped {
    @attrib { a: int; b: int; }
    @input { x: real[m]; k: int[n]; }
    @output { y: real[n]; }
    @lower { y[i,] = x[|a * k[i,] + b <> 0 : m - 1|,], i < n; }
}
operator skipping {
    @attrib { a: int; b: int; }
    @input { x: real[m]; k: int[n]; }
    @output { y: real[n]; }
    @lower { y[i,] = 7.0, i < n; y[i,] += x[|a * k[i,] + b|,], i < n; }
}
operator putting {
    @attrib { a: int; b: int; }
    @input { x: real[m]; k: int[m]; }
    @output { y: real[8]; }
    @lower { y[i,] = 0.0, i < 8; y[a * k[i,] + b,] := x[i,], i < m; }
}
)";

std::string lookup(const char* call) {
    return fmt::format(R"({}
graph G {{
    @input {{ x: real[8]; k: int[8]; }}
    @output {{ y: real[8]; }}
    @compose {{ y = {}(x, k); }}
}})",
                       kLookups,
                       call);
}

NamedArrays with_keys(int64_t odd) {
    return {{"x", reals({8}, {0, 1, 2, 3, 4, 5, 6, 7})},
            {"k", ints({8}, {0, 1, 0, odd, 1, 0, 1, 1})}};
}

// 4 * 2^62 + 1 is 1 in 64 bits; 3 * 2^62 is negative.
TEST(EngineSizes, IndicesThatDoNotFitAreErrors) {
    constexpr int64_t kWraps = int64_t{1} << 62;
    for (const char* call : {"plain{a = 4, b = 1}",
                             "cyclic{a = 3, b = 1}",
                             "clamped{a = 4, b = 1}",
                             "skipping{a = 4, b = 1}",
                             "putting{a = 4, b = 1}"}) {
        const char* const tensor = std::string(call).starts_with("putting") ? "y" : "x";
        EXPECT_EQ(failure(lookup(call), with_keys(kWraps)),
                  fmt::format("an index of `{}` does not fit 64 bits", tensor))
            << call;
        outputs(lookup(call), with_keys(1));
    }
}

// An index at a small distance from any number is outside or inside without a separate check.
TEST(EngineSizes, IndicesNearTheLargestNumber) {
    for (const int64_t odd : {kLargest, kLargest - 3, kSmallest, kSmallest + 3}) {
        EXPECT_NE(failure(lookup("plain{a = 1, b = 4}"), with_keys(odd)), "");
        outputs(lookup("skipping{a = 1, b = 4}"), with_keys(odd));
    }
    EXPECT_EQ(failure(lookup("clamped{a = 1, b = 4}"), with_keys(kLargest)),
              "an index of `x` does not fit 64 bits");
    outputs(lookup("clamped{a = 1, b = 4}"), with_keys(kSmallest));
}

TEST(EngineSizes, WindowsThatReachFarOutside) {
    for (const char* numbers : {"a = 4611686018427387904, b = 0",
                                "a = 1099511627776, b = -3",
                                "a = 8589934592, b = 1",
                                "a = -9223372036854775807, b = 5"}) {
        const std::string text = fmt::format(R"(
operator window {{
    @attrib {{ a: int; b: int; }}
    @input {{ x: real[m]; }}
    @output {{ y: real[3]; }}
    @lower {{ y[i,] = 2.0, i < 3; y[i,] += x[|a * i + b + j|,], i < 2, j < 5; }}
}}
graph G {{
    @input {{ x: real[8]; }}
    @output {{ y: real[3]; }}
    @compose {{ y = window{{{}}}(x); }}
}})",
                                             numbers);
        outputs(text, {{"x", reals({8}, {0, 1, 2, 3, 4, 5, 6, 7})}});
    }
}

// The zeros around a tensor take memory, too.
TEST(EngineSizes, PaddingFarBeyondTheImage) {
    outputs(R"(import nn;
graph G {
    @input { x: real[1, 3, 5]; w: real[16, 3, 2]; }
    @output { y: real[1, 16, 2]; }
    @compose {
        y = nn.conv{stride = [1073741824], dilation = [1000000], padding = [1073741824, 1073741824]}(x, w);
    }
})");
}

// Zeros after the last element need memory, though they change no stride. So the operand of the
// convolution is not a view of the other tensor.
TEST(EngineSizes, PaddingBehindAView) {
    outputs(R"(import nn; import layout;
graph G {
    @input { x: real[5, 2, 5]; w: real[16, 1, 3]; }
    @output { y: real[1, 16, 32]; }
    @compose {
        flat = layout.flatten(x);
        row = layout.unsqueeze{axes = [0, 1]}(flat);
        y = nn.conv{stride = [3], dilation = [3], padding = [0, 52]}(row, w);
    }
})");
}

// ---- Regions ------------------------------------------------------------------------------------

TEST(EngineSizes, RegionsThatAreNoNumbers) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto ran = run(R"(import image;
graph G {
    @input { x: real[1, 1, 4, 4]; rois: real[1, 4]; index: int[1]; }
    @output { y: real[1, 1, 2, 2]; }
    @compose { y = image.roi_align{output_size = [2, 2], sampling_rate = [1, 1]}(x, rois, index); }
})",
                         {{"rois", reals({1, 4}, {nan, 0, nan, 3})}, {"index", ints({1}, {0})}},
                         true);
    ASSERT_TRUE(ran && ran->interpreted && ran->compiled);
    for (const double value : ran->compiled->at("y")[0].reals) EXPECT_TRUE(std::isnan(value));
}

// ---- Comparisons --------------------------------------------------------------------------------

TEST(EngineSizes, LargeNumbersCompare) {
    const NamedArrays out = outputs(R"(import math;
graph G {
    @input { x: int[4]; y: int[4]; }
    @output { a: bool[4]; b: bool[4]; c: bool[4]; d: bool[4]; }
    @compose {
        a = math.lt(x, 0);
        b = math.lt(x, y);
        c = math.ge(x, y);
        d = math.eq(x, y);
    }
})",
                                    {{"x", ints({4}, {kLargest, kSmallest, 5, kSmallest})},
                                     {"y", ints({4}, {kSmallest, kLargest, 5, kSmallest})}});
    ASSERT_EQ(out.size(), 4U);
    EXPECT_EQ(out.at("a")[0].integers, (std::vector<int64_t>{0, 1, 0, 1}));
    EXPECT_EQ(out.at("b")[0].integers, (std::vector<int64_t>{0, 1, 0, 0}));
    EXPECT_EQ(out.at("c")[0].integers, (std::vector<int64_t>{1, 0, 1, 1}));
    EXPECT_EQ(out.at("d")[0].integers, (std::vector<int64_t>{0, 0, 1, 1}));
}

}  // namespace
}  // namespace lemma
