// SPDX-License-Identifier: Apache-2.0
// Products of bytes and of bf16: kernels on dot products and on tile registers. Every kernel leaves
// the same bits as the evaluator of the loop IR, which also stands in for a processor without tile
// registers. Results equal those of the interpreter: bytes exactly.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "codegen/compiler.h"
#include "engine/engine.h"
#include "interpret/random.h"
#include "loop/ir/run.h"
#include "loop/plan/plan.h"
#include "support/engine_models.h"
#include "support/loop_evaluator.h"

namespace lemma {
namespace {

using engine::Engine;
using interpret::NamedArrays;
using tensor::DType;
using tensor::Tensor;
using testing_support::load_text;
using testing_support::random_inputs;
using testing_support::run_interpreter;
using testing_support::with_types;

constexpr const char* kConvolution = R"(
operator conv {{
    @attrib {{ pad: int; stride: int; }}
    @input {{ x: {0}[c, h, w]; f: {0}[m, c, k, l]; }}
    @using {{ v = (h + 2 * pad - k) / stride + 1; u = (w + 2 * pad - l) / stride + 1; }}
    @output {{ y: {0}[m, v, u]; }}
    @lower {{
        y[o, i, j] = {1}, o < m, i < v, j < u;
        y[o, i, j] += x[a, |stride * i + p - pad|, |stride * j + q - pad|] * f[o, a, p, q],
            o < m, i < v, j < u, a < c, p < k, q < l;
    }}
}}
)";

struct Sizes {
    int channels, height, width, outputs, kernel, stride, pad;
};
std::string convolution(const Sizes& s, const char* type) {
    const int v = (s.height + 2 * s.pad - s.kernel) / s.stride + 1;
    const int u = (s.width + 2 * s.pad - s.kernel) / s.stride + 1;
    const bool real = std::string_view(type) == "real";
    return fmt::format(fmt::runtime(kConvolution), type, real ? "0.0" : "0") +
           fmt::format(
               "graph G {{ @input {{ x: {0}[{1}, {2}, {3}]; f: {0}[{4}, {1}, {5}, {5}]; }} "
               "@output {{ y: {0}[{4}, {6}, {7}]; }} "
               "@compose {{ y = conv{{pad={8}, stride={9}}}(x, f); }} }}",
               type,
               s.channels,
               s.height,
               s.width,
               s.outputs,
               s.kernel,
               v,
               u,
               s.pad,
               s.stride);
}

NamedArrays random_bytes(const ir::Program& program) {
    NamedArrays inputs = random_inputs(program);
    testing_support::fill_with_bytes(inputs);
    return inputs;
}

// ---- Kernels ------------------------------------------------------------------------------------

int64_t room(const loop::Plan& plan, loop::StorageId id) {
    int64_t before = 0;
    for (; plan.storages[id].base.valid(); id = plan.storages[id].base) {
        before += plan.storages[id].begin;
    }
    return plan.storages[id].elements - before;
}

std::vector<Tensor> random_memory(const loop::Plan& plan, const loop::ScheduledKernel& kernel) {
    std::vector<Tensor> buffers;
    for (size_t i = 0; i < kernel.arguments.size(); ++i) {
        const DType dtype = kernel.function.buffers[i].dtype;
        const int64_t elements = room(plan, kernel.arguments[i]);
        Tensor& made = buffers.emplace_back(Tensor::zeros(dtype, {elements}).value());
        for (int64_t k = 0; k < elements; ++k) {
            const uint64_t bits = interpret::random_bits(i + 1, static_cast<uint64_t>(k));
            if (is_real(dtype)) {
                made.set_real(k, static_cast<double>(bits % 4096) / 1024.0 - 2);
            } else {
                made.set_integer(k, static_cast<int64_t>(bits % 256) - 128);
            }
        }
    }
    return buffers;
}

bool same_bytes(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    for (size_t i = 0; i < a.size(); ++i) {
        if (!std::ranges::equal(a[i].bytes(), b[i].bytes())) return false;
    }
    return true;
}

// All kernels of the plan for this target, evaluated, with run_function, and as code if `runs`.
// Returns their schedules.
std::string check_kernels(const interpret::State& state, const loop::Target& target, bool runs) {
    loop::Plan plan =
        loop::make_plan(state.program(), {}, {.target = target, .least_steps = 1, .verify = true});
    std::vector<loop::ScheduledKernel*> kernels;
    for (loop::PlanStep& step : plan.steps) kernels.push_back(step.kernel());
    const auto compiler = codegen::Compiler::create();
    EXPECT_TRUE(compiler);
    if (!compiler) return {};
    std::vector<runtime::KernelFunction> code(kernels.size());
    if (runs) {
        auto made = (*compiler)->compile(kernels, 1);
        EXPECT_TRUE(made) << made.error().message;
        if (made) code = std::move(*made);
    }
    std::string schedules;
    for (size_t i = 0; i < kernels.size(); ++i) {
        const loop::Function& function = kernels[i]->function;
        schedules += kernels[i]->schedule + "; ";
        std::vector<Tensor> wanted = random_memory(plan, *kernels[i]);
        std::vector<Tensor> walked = wanted;
        std::vector<Tensor> compiled = wanted;
        const auto done =
            testing::evaluate(function, {0, function.items}, testing::Fma::Fused, wanted);
        EXPECT_TRUE(done) << done.error().message << "\n" << loop::print(function);
        std::vector<void*> pointers;
        for (Tensor& buffer : walked) pointers.push_back(buffer.bytes().data());
        loop::run_function(function, pointers.data(), 0, function.items);
        EXPECT_TRUE(same_bytes(walked, wanted)) << loop::print(function);
        if (!code[i]) continue;
        pointers.clear();
        for (Tensor& buffer : compiled) pointers.push_back(buffer.bytes().data());
        code[i](pointers.data(), 0, function.items);
        EXPECT_TRUE(same_bytes(compiled, wanted)) << loop::print(function);
    }
    return schedules;
}

struct Types {
    DType x, f;
};
constexpr Types kTypes[] = {
    {DType::U8, DType::I8}, {DType::I8, DType::I8}, {DType::U8, DType::U8}, {DType::I8, DType::U8}};
// Whole tiles, and parts of groups, lanes, rows and segments; padded and strided. The last one has
// too few points for tile registers.
constexpr Sizes kSizes[] = {{64, 8, 20, 32, 1, 1, 0},
                            {5, 7, 9, 21, 3, 1, 1},
                            {3, 13, 11, 40, 3, 2, 1},
                            {32, 5, 17, 17, 2, 1, 0},
                            {8, 4, 4, 16, 2, 1, 0}};

TEST(EngineBytes, KernelsEqualTheirEvaluation) {
    const auto compiler = codegen::Compiler::create();
    ASSERT_TRUE(compiler);
    const loop::Target host = (*compiler)->target();
    for (const Sizes& sizes : kSizes) {
        for (const Types& types : kTypes) {
            SCOPED_TRACE(fmt::format("{} channels of {}, {}",
                                     sizes.channels,
                                     tensor::dtype_name(types.x),
                                     tensor::dtype_name(types.f)));
            const auto state = load_text(convolution(sizes, "int"),
                                         testing_support::large_weight,
                                         DType::F32,
                                         with_types(types.x, types.f, DType::I32));
            ASSERT_TRUE(state);
            loop::Target dots = host;
            dots.byte_tiles = false;
            EXPECT_NE(check_kernels(*state, dots, true).find("tile "), std::string::npos);
            loop::Target tiles;
            tiles.byte_dots = tiles.byte_tiles = true;
            const bool runs = host.byte_tiles;
            const bool small = sizes.height == 4;
            EXPECT_EQ(check_kernels(*state, tiles, runs).find("tiles ") == std::string::npos,
                      small);
        }
    }
}

TEST(EngineBytes, SumsAreThoseOfTheInterpreter) {
    for (const char* target : {"", "avx512", "avx2", "sse2"}) {
        for (const Sizes& sizes : kSizes) {
            const Types types = kTypes[static_cast<size_t>(sizes.channels) % 4];
            const auto load = [&] {
                return load_text(convolution(sizes, "int"),
                                 testing_support::large_weight,
                                 DType::F32,
                                 with_types(types.x, types.f, DType::I32));
            };
            const auto state = load();
            ASSERT_TRUE(state);
            const NamedArrays inputs = random_bytes(state->program());
            const auto wanted = run_interpreter(*load(), inputs);
            ASSERT_TRUE(wanted);
            const auto engine = Engine::create(
                *state,
                {.verify = true, .threads = 2, .least_steps = 1, .compiler = {.target = target}});
            if (!engine && *target) continue;  // this processor does not have it
            ASSERT_TRUE(engine) << engine.error().message;
            const auto got = (*engine)->run(inputs);
            ASSERT_TRUE(got) << got.error().message;
            EXPECT_EQ(got->at("y")[0].integers, wanted->at("y")[0].integers) << target;
        }
    }
}

// Channels of an image become innermost while they are rounded to bytes or bf16. The arithmetic has
// lanes, though elements are stored one by one.
TEST(EngineBytes, ImagesAreTurnedInVectors) {
    constexpr const char* kImage = R"(
operator turned {{
    @input {{ x: real[c, h, w]; }}
    @output {{ y: {}[h, w, c]; }}
    @lower {{ y[i, j, k] = {}, i < h, j < w, k < c; }}
}}
graph G {{ @input {{ x: real[3, 20, 33]; }} @output {{ y: {}[20, 33, 3]; }}
           @compose {{ y = turned(x); }} }})";
    const std::string rounded = "int((x[k, i, j] * 50.0 + 0.5 >> 0.0) << 255.0)";
    const auto bytes = load_text(fmt::format(kImage, "int", rounded, "int"),
                                 testing_support::large_weight,
                                 DType::F32,
                                 with_types(DType::F32, DType::F32, DType::U8));
    const auto halves = load_text(fmt::format(kImage, "real", "x[k, i, j]", "real"),
                                  testing_support::large_weight,
                                  DType::BF16);
    for (const interpret::State* const state : {bytes.get(), halves.get()}) {
        ASSERT_TRUE(state);
        EXPECT_EQ(check_kernels(*state, {}, true), "x16; ");
    }
}

// ---- bf16 ---------------------------------------------------------------------------------------

TEST(EngineBytes, TilesOfBf16EqualTheirEvaluation) {
    const auto compiler = codegen::Compiler::create();
    ASSERT_TRUE(compiler);
    for (const Sizes& sizes : kSizes) {
        const auto state =
            load_text(convolution(sizes, "real"), testing_support::large_weight, DType::BF16);
        ASSERT_TRUE(state);
        loop::Target tiles;
        tiles.bf16_tiles = true;
        const bool small = sizes.height == 4;
        const bool runs = (*compiler)->target().bf16_tiles;
        EXPECT_EQ(check_kernels(*state, tiles, runs).find("tiles ") == std::string::npos, small);
    }
}

// Without an instruction, the code multiplies floats; the values here are not subnormal.
TEST(EngineBytes, DotsOfBf16EqualTheirEvaluation) {
    for (const Sizes& sizes : kSizes) {
        const auto state =
            load_text(convolution(sizes, "real"), testing_support::large_weight, DType::BF16);
        ASSERT_TRUE(state);
        loop::Target dots;
        dots.bf16_dots = true;
        const std::string schedules = check_kernels(*state, dots, true);
        EXPECT_TRUE(schedules.contains("tile ")) << schedules;
        EXPECT_FALSE(schedules.contains("tiles ")) << schedules;
    }
}

TEST(EngineBytes, SumsOfBf16AreCloseToTheInterpreter) {
    for (const DType real : {DType::BF16, DType::F16}) {
        const Sizes sizes{20, 9, 30, 48, 3, 1, 1};
        const auto load = [&] {
            return load_text(convolution(sizes, "real"), testing_support::large_weight, real);
        };
        const auto state = load();
        ASSERT_TRUE(state);
        const NamedArrays inputs = random_inputs(state->program());
        const auto wanted = run_interpreter(*load(), inputs);
        const auto engine = Engine::create(*state, {.verify = true});
        ASSERT_TRUE(wanted && engine);
        const auto got = (*engine)->run(inputs);
        ASSERT_TRUE(got) << got.error().message;
        // One step of the result's type.
        const double step = real == DType::BF16 ? 0x1p-7 : 0x1p-10;
        const auto& a = got->at("y")[0].reals;
        const auto& b = wanted->at("y")[0].reals;
        for (size_t i = 0; i < b.size(); ++i) {
            ASSERT_NEAR(a[i], b[i], std::fabs(b[i]) * step + 1e-5) << i;
        }
    }
}

}  // namespace
}  // namespace lemma
