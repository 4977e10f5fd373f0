// SPDX-License-Identifier: Apache-2.0
// Quantised graphs: sums of products of bytes are computed with integers, and agree with the
// interpreter up to the rounding of ties.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/engine.h"
#include "interpret/random.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using engine::Engine;
using engine::EngineOptions;
using interpret::Array;
using interpret::NamedArrays;
using loop::Numerics;
using tensor::DType;
using testing_support::load_text;
using testing_support::random_inputs;
using testing_support::run_interpreter;

// The types of tensors, by name; SkriptND has one type of ints.
using Types = std::map<std::string, DType>;

std::unique_ptr<interpret::State> load(const std::string& text, const Types& types) {
    const auto weight = [](const std::string& name, uint64_t i) {
        const double unit = interpret::random_unit(name.size() * 31 + name[0], i);
        return name[0] == 's' ? 0.002 + 0.01 * unit : 2 * unit - 1;
    };
    auto state = load_text(text, weight, DType::F32, [&](ir::Program& program) {
        for (ir::Tensor& tensor : program.tensors) {
            const auto found = types.find(tensor.name);
            if (found != types.end()) tensor.dtype = found->second;
        }
    });
    if (!state) return nullptr;
    for (const ir::Tensor& tensor : state->program().tensors) {
        const bool bytes = tensor.dtype == DType::I8 || tensor.dtype == DType::U8;
        if (tensor.role != ir::TensorRole::Variable || !bytes) continue;
        tensor::Shape shape;
        for (const ir::SymId part : tensor.shape) {
            shape.push_back(*state->program().symbols.as_int(part));
        }
        Array value = *Array::zeros(tensor.dtype, shape);
        const int64_t low = tensor.dtype == DType::I8 ? -128 : 0;
        for (size_t i = 0; i < value.integers.size(); ++i) {
            value.integers[i] = low + static_cast<int64_t>(255.99 * interpret::random_unit(5, i));
        }
        EXPECT_TRUE(state->set_variable(tensor.name, std::move(value)));
    }
    return state;
}

struct Ran {
    NamedArrays outputs;
    std::string dumped;
};

Ran run(const std::string& text,
        const Types& types,
        const NamedArrays& inputs,
        EngineOptions options = {}) {
    const auto state = load(text, types);
    options.verify = true;
    options.dump_pass = "fuse";
    options.least_steps = 1;
    auto engine = Engine::create(*state, std::move(options));
    EXPECT_TRUE(engine) << engine.error().message;
    if (!engine) return {};
    auto outputs = (*engine)->run(inputs);
    EXPECT_TRUE(outputs) << outputs.error().message;
    if (!outputs) return {};
    return {std::move(*outputs), (*engine)->dumped()};
}

// Elements that differ; none of them by more than one step.
size_t count_ties(const NamedArrays& got, const NamedArrays& want) {
    size_t ties = 0;
    for (const auto& [name, items] : want) {
        const std::vector<int64_t>& values = got.at(name)[0].integers;
        EXPECT_EQ(values.size(), items[0].integers.size());
        for (size_t i = 0; i < values.size(); ++i) {
            const int64_t difference = std::abs(values[i] - items[0].integers[i]);
            EXPECT_LE(difference, 1) << name << " " << i;
            ties += difference != 0 ? 1 : 0;
        }
    }
    return ties;
}

// Compiled code agrees with the interpreter. `integers`: what the compiler must find.
// `thoroughly`: also on other targets, with several threads, and in strict code.
void expect_agreement(const std::string& text,
                      const Types& types,
                      const std::string& integers,
                      bool thoroughly = false) {
    const auto oracle = load(text, types);
    ASSERT_TRUE(oracle);
    const NamedArrays inputs = random_inputs(oracle->program());
    const auto want = run_interpreter(*oracle, inputs);
    ASSERT_TRUE(want) << want.error().message;
    size_t elements = 0;
    for (const auto& [name, items] : *want) elements += items[0].integers.size();
    const Ran got = run(text, types, inputs);
    EXPECT_LE(count_ties(got.outputs, *want), elements / 200 + 1);
    EXPECT_NE(got.dumped.find(integers), std::string::npos) << got.dumped;
    if (!thoroughly) return;
    for (const char* target : {"sse2", "avx2"}) {
        EngineOptions options;
        options.compiler.target = target;
        EXPECT_LE(count_ties(run(text, types, inputs, options).outputs, *want), elements / 200 + 1)
            << target;
    }
    EngineOptions threads;
    threads.threads = 3;
    const Ran parallel = run(text, types, inputs, threads);
    for (const auto& [name, items] : got.outputs) {
        EXPECT_EQ(parallel.outputs.at(name)[0].integers, items[0].integers) << name;
    }
    EngineOptions strict;
    strict.compiler.numerics = Numerics::Strict;
    const Ran exact = run(text, types, inputs, strict);
    for (const auto& [name, items] : *want) {
        EXPECT_EQ(exact.outputs.at(name)[0].integers, items[0].integers) << name;
    }
}

struct Convolution {
    int64_t channels = 5, filters = 9, size = 13, kernel = 3, stride = 1, padding = 1, groups = 1;
    int64_t zero = 0;           // of x
    int64_t weight_zero = 0;    // of w
    DType weights = DType::I8;  // type of w
    int64_t low = 0;            // of x and y
};

std::string text_of(const Convolution& c) {
    const int64_t out = (c.size + 2 * c.padding - c.kernel) / c.stride + 1;
    return fmt::format(
        R"(import nn; import onnx.quantize;
graph G {{
    @input {{ x: real[2, {0}, {2}, {2}]; }}
    @output {{ y: int[2, {1}, {3}, {3}]; }}
    @variable {{ w: int[{1}, {4}, {5}, {5}]; s: real[{1}]; b: real[{1}]; }}
    @constant {{ xs: real[] = 0.0043; ys: real[] = 0.021; xz: int[] = {6}; wz: int[] = {7};
                 yz: int[] = {8}; }}
    @compose {{
        xq = onnx.quantize.QuantizeLinear<int>{{lowest={9}, highest={10}}}(x, xs, xz);
        xd = onnx.quantize.DequantizeLinear(xq, xs, xz);
        wd = onnx.quantize.DequantizeLinear{{axis=0}}(w, s, wz);
        c = nn.conv{{padding=[{11}, {11}, {11}, {11}], stride=[{12}, {12}], groups={13}}}(xd, wd, b);
        r = nn.relu(c);
        y = onnx.quantize.QuantizeLinear<int>{{lowest={9}, highest={10}}}(r, ys, yz);
    }}
}})",
        c.channels,
        c.filters,
        c.size,
        out,
        c.channels / c.groups,
        c.kernel,
        c.zero,
        c.weight_zero,
        c.low + 20,
        c.low,
        c.low + 255,
        c.padding,
        c.stride,
        c.groups);
}

void expect_integers(const Convolution& c, bool thoroughly = false) {
    const DType type = c.low < 0 ? DType::I8 : DType::U8;
    expect_agreement(text_of(c),
                     {{"xq", type}, {"y", type}, {"w", c.weights}},
                     "with the total made",
                     thoroughly);
}

TEST(Quantised, ConvolutionsWithoutZeroPoints) {
    expect_integers({});
    expect_integers({.stride = 2});
    expect_integers({.channels = 16, .filters = 32, .size = 7});
    expect_integers({.kernel = 1, .padding = 0});
}

TEST(Quantised, PaddingIsAtTheZeroPoint) {
    expect_integers({.zero = 121}, true);
    expect_integers({.stride = 2, .padding = 2, .zero = 255});
    expect_integers({.kernel = 1, .padding = 0, .zero = 7});
}

TEST(Quantised, SignedActivationsAndUnsignedWeights) {
    expect_integers({.zero = -5, .low = -128});
    expect_integers({.weight_zero = 128, .weights = DType::U8});
    expect_integers({.zero = 17, .weight_zero = 128, .weights = DType::U8});
}

TEST(Quantised, OtherWeightZeroPointsNeedSumsOfTheInput) {
    expect_integers({.kernel = 1, .padding = 0, .zero = 9, .weight_zero = 3});
}

TEST(Quantised, Depthwise) {
    expect_integers({.channels = 16, .filters = 16, .groups = 16});
    expect_integers({.channels = 16, .filters = 16, .stride = 2, .groups = 16, .zero = 30});
}

// y = quantised(a b), of two tensors with zero points: sums of rows and columns correct it.
TEST(Quantised, ProductsOfMatrices) {
    for (const bool constant : {true, false}) {
        for (const int64_t zero : {0, 131}) {
            const std::string text = fmt::format(
                R"(import linalg; import onnx.quantize;
graph G {{
    @input {{ x: real[3, 19, 37]; {0} }}
    @output {{ y: int[3, 19, 41]; }}
    @variable {{ w: int[3, 37, 41]; }}
    @constant {{ xs: real[] = 0.0041; ws: real[] = 0.0039; ys: real[] = 0.07; xz: int[] = 0;
                 wz: int[] = {1}; yz: int[] = 99; }}
    @compose {{
        xq = onnx.quantize.QuantizeLinear<int>(x, xs, xz);
        xd = onnx.quantize.DequantizeLinear(xq, xs, xz);
        {2}
        c = linalg.matmul(xd, wd);
        y = onnx.quantize.QuantizeLinear<int>(c, ys, yz);
    }}
}})",
                constant ? "" : "v: real[3, 37, 41];",
                zero,
                constant ? "wd = onnx.quantize.DequantizeLinear(w, ws, wz);"
                         : "vq = onnx.quantize.QuantizeLinear<int>(v, ws, wz);\n"
                           "        wd = onnx.quantize.DequantizeLinear(vq, ws, wz);");
            expect_agreement(
                text,
                {{"xq", DType::U8}, {"y", DType::U8}, {"w", DType::U8}, {"vq", DType::U8}},
                "with the total made");
        }
    }
}

TEST(Quantised, SumsOfIntegersWithZeroPointsOfTheRun) {
    expect_agreement(R"(import onnx.integer; import onnx.quantize;
graph G {
    @input { x: real[24, 64]; }
    @output { y: int[24, 48]; }
    @variable { w: int[64, 48]; }
    @compose {
        q, s, z = onnx.quantize.DynamicQuantizeLinear<int>(x);
        y = onnx.integer.MatMulInteger<int>(q, w, z);
    }
})",
                     {{"q", DType::U8}, {"z", DType::U8}, {"w", DType::I8}, {"y", DType::I32}},
                     "from (0 - (z[] * made",
                     true);
}

TEST(Quantised, PoolsTakeTheLargestByte) {
    expect_agreement(R"(import nn; import onnx.quantize;
graph G {
    @input { x: real[2, 5, 13, 13]; }
    @output { y: int[2, 5, 7, 7]; }
    @constant { xs: real[] = 0.0043; xz: int[] = 20; }
    @compose {
        xq = onnx.quantize.QuantizeLinear<int>(x, xs, xz);
        xd = onnx.quantize.DequantizeLinear(xq, xs, xz);
        p = nn.max_pool{size=[3, 3], stride=[2, 2], padding=[1, 1, 1, 1]}(xd);
        y = onnx.quantize.QuantizeLinear<int>(p, xs, xz);
    }
})",
                     {{"xq", DType::U8}, {"y", DType::U8}},
                     ">= f32(xq");
}

TEST(Quantised, PartsOfAConcatenation) {
    expect_agreement(R"(import layout; import onnx.quantize;
graph G {
    @input { a: real[2, 5, 9]; b: real[2, 4, 9]; }
    @output { y: int[2, 9, 9]; }
    @constant { s: real[] = 0.0043; t: real[] = 0.003; z: int[] = 20; }
    @compose {
        aq = onnx.quantize.QuantizeLinear<int>(a, s, z);
        ad = onnx.quantize.DequantizeLinear(aq, s, z);
        bq = onnx.quantize.QuantizeLinear<int>(b, t, z);
        bd = onnx.quantize.DequantizeLinear(bq, t, z);
        c = layout.concat{axis=1}([ad, bd]);
        y = onnx.quantize.QuantizeLinear<int>(c, s, z);
    }
})",
                     {{"aq", DType::U8}, {"bq", DType::U8}, {"y", DType::U8}},
                     "y");
}

}  // namespace
}  // namespace lemma
