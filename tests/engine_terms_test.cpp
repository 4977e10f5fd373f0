// SPDX-License-Identifier: Apache-2.0
// Sums of products of floats as two terms of bf16 on tile registers. The plan is made for a
// processor with them and evaluated without machine code, so that these tests run everywhere.
// Results are within the bound of docs/numerics.md of the interpreter's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "codegen/compiler.h"
#include "engine/data.h"
#include "engine/engine.h"
#include "interpret/random.h"
#include "loop/ir/run.h"
#include "loop/plan/plan.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using interpret::NamedArrays;
using loop::Numerics;
using loop::StorageId;
using testing_support::load_text;
using testing_support::random_inputs;
using testing_support::run_interpreter;

constexpr double kAlways = HUGE_VAL;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Between -1 and 1, and the size of that.
double weight(const std::string& name, uint64_t i) {
    return interpret::random_unit(name.size(), i) * 2 - 1;
}
double size_of_weight(const std::string& name, uint64_t i) { return std::fabs(weight(name, i)); }

loop::Target tile_target() {
    loop::Target target;
    target.bf16_tiles = true;
    return target;
}

loop::PlanOptions options_for(double share, Numerics numerics = Numerics::Fast) {
    return {.target = tile_target(),
            .numerics = numerics,
            .least_steps = 1,
            .window_share = 0,
            .term_share = share,
            .apart = true,
            .verify = true};
}

// ---- A plan without machine code ----------------------------------------------------------------

class PlanRunner {
public:
    PlanRunner(interpret::State& state, double share, Numerics numerics = Numerics::Fast)
        : state_(state),
          plan_(loop::make_plan(state.program(), {}, options_for(share, numerics))) {}

    std::string schedules() const {
        std::string text;
        for (const loop::PlanStep& step : plan_.steps) {
            text += step.kernel() ? step.kernel()->schedule + "; " : "no kernel; ";
        }
        return text;
    }
    const loop::Plan& plan() const { return plan_; }

    std::vector<double> run(const NamedArrays& inputs, const std::string& output = "y") {
        EXPECT_TRUE(state_.begin_run(inputs));
        for (uint32_t i = 0; i < plan_.storages.size(); ++i) prepare(make_id<StorageId>(i));
        for (const loop::PlanStep& step : plan_.steps) {
            const loop::ScheduledKernel& kernel = *step.kernel();
            int64_t failed = 0;
            std::vector<void*> buffers;
            for (const StorageId id : kernel.arguments) {
                buffers.push_back(id.valid() ? address(id) : &failed);
            }
            loop::run_function(kernel.function, buffers.data(), 0, kernel.function.items);
            EXPECT_EQ(failed, 0);
        }
        for (const ir::Port& port : state_.program().graphs[state_.program().main].outputs) {
            if (port.name != output) continue;
            const loop::BufferView& view = plan_.places.at(port.operand.items[0]);
            auto array = engine::from_memory(view, address(view.storage));
            EXPECT_TRUE(array);
            if (array) return std::move(array->reals);
        }
        ADD_FAILURE() << "no output " << output;
        return {};
    }

private:
    void prepare(StorageId id) {
        const loop::Storage& storage = plan_.storages[id];
        if (storage.base.valid()) return;
        memory_[id].assign(
            static_cast<size_t>(storage.elements * tensor::dtype_size(storage.dtype)), {});
        const ir::Program& program = state_.program();
        if (!storage.tensor.valid() || storage.tensor.value >= program.tensors.size()) return;
        if (program.tensors[storage.tensor].role == ir::TensorRole::Intermediate) return;
        if (storage.role == loop::StorageRole::Computed) return;
        const auto value = state_.value_of(storage.tensor);
        ASSERT_TRUE(value) << value.error().message;
        engine::to_memory(**value, plan_.places.at(storage.tensor), memory_[id].data());
    }
    void* address(StorageId id) {
        int64_t bytes = 0;
        for (; plan_.storages[id].base.valid(); id = plan_.storages[id].base) {
            bytes += plan_.storages[id].begin * tensor::dtype_size(plan_.storages[id].dtype);
        }
        return memory_.at(id).data() + bytes;
    }

    interpret::State& state_;
    loop::Plan plan_;
    std::unordered_map<StorageId, std::vector<std::byte>, IdHash> memory_;
};

// ---- Errors -------------------------------------------------------------------------------------

// The bound of docs/numerics.md for a sum of products, relative to the sum of their sizes: three
// roundings of a term, the product of two rests, and the additions.
double bound(double products) { return 3.1 * 0x1p-16 + products * 0x1p-24; }

struct Errors {
    double mean = 0, largest = 0;  // relative to the sum of the sizes of the products
};

NamedArrays sizes_of(NamedArrays inputs) {
    for (auto& [name, items] : inputs) {
        for (double& value : items[0].reals) value = std::fabs(value);
    }
    return inputs;
}

// The model's output is one sum of products for each element, without anything behind it.
Errors check(const std::string& text, double products, bool possible = true) {
    const auto state = load_text(text, weight);
    EXPECT_TRUE(state);
    if (!state) return {};
    const NamedArrays inputs = random_inputs(state->program());
    const NamedArrays sizes = sizes_of(inputs);
    const auto wanted = run_interpreter(*load_text(text, weight), inputs);
    const auto scale = run_interpreter(*load_text(text, size_of_weight), sizes);
    EXPECT_TRUE(wanted && scale);
    if (!wanted || !scale) return {};
    PlanRunner runner(*state, kAlways);
    EXPECT_EQ(runner.schedules().find(" terms") != std::string::npos, possible)
        << runner.schedules();
    const std::vector<double> got = runner.run(inputs);
    const std::vector<double>& want = wanted->at("y")[0].reals;
    const std::vector<double>& of = scale->at("y")[0].reals;
    EXPECT_EQ(got.size(), want.size());
    Errors errors;
    double squares = 0;
    for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
        const double error = std::fabs(got[i] - want[i]) / std::fmax(of[i], 1e-30);
        EXPECT_TRUE(error <= bound(products)) << i << ": " << got[i] << ", not " << want[i];
        if (!(error <= bound(products))) break;
        errors.largest = std::fmax(errors.largest, error);
        squares += error * error;
    }
    errors.mean = std::sqrt(squares / static_cast<double>(got.size()));
    return errors;
}

void print(const std::string& name, const Errors& errors) {
    if (!std::getenv("LEMMA_PRINT_ERRORS")) return;
    fmt::print("{}: {:.2g}, {:.2g}\n", name, errors.mean, errors.largest);
}

// ---- Convolutions -------------------------------------------------------------------------------

struct Conv {
    int batch, channels, height, width, results, kernel, stride, padding, dilation, groups;
};
std::string text_of(const Conv& c) {
    const auto extent = [&](int of) {
        return (of + 2 * c.padding - c.dilation * (c.kernel - 1) - 1) / c.stride + 1;
    };
    return fmt::format(
        R"(import nn;
graph G {{
    @input {{ x: real[{}, {}, {}, {}]; }}
    @output {{ y: real[{}, {}, {}, {}]; }}
    @variable {{ w: real[{}, {}, {}, {}]; }}
    @compose {{ y = nn.conv{{stride = {}, padding = {}, dilation = {}, groups = {}}}(x, w); }}
}})",
        c.batch,
        c.channels,
        c.height,
        c.width,
        c.batch,
        c.results,
        extent(c.height),
        extent(c.width),
        c.results,
        c.channels / c.groups,
        c.kernel,
        c.kernel,
        c.stride,
        c.padding,
        c.dilation,
        c.groups);
}

// Whole tiles; odd channels, results and images; strides, dilations, groups and batches.
constexpr Conv kConvs[] = {
    {1, 64, 8, 16, 64, 1, 1, 0, 1, 1},
    {1, 32, 14, 14, 32, 3, 1, 1, 1, 1},
    {1, 3, 23, 23, 24, 7, 2, 3, 1, 1},
    {2, 17, 7, 7, 33, 3, 1, 1, 1, 1},
    {1, 34, 15, 13, 40, 3, 2, 1, 1, 1},
    {1, 20, 16, 17, 16, 3, 1, 2, 2, 1},
    {1, 48, 9, 9, 96, 3, 1, 1, 1, 2},
    {3, 70, 7, 7, 18, 1, 1, 0, 1, 1},
    {1, 40, 12, 12, 50, 1, 2, 0, 1, 1},
    {1, 12, 6, 21, 81, 2, 1, 0, 1, 3},
};

TEST(EngineTerms, ConvolutionsAreWithinTheirBound) {
    for (const Conv& c : kConvs) {
        SCOPED_TRACE(text_of(c));
        const int products = c.channels / c.groups * c.kernel * c.kernel;
        const Errors errors = check(text_of(c), products);
        print(fmt::format("convolution of {} products", products), errors);
    }
}

// ---- Matrices -----------------------------------------------------------------------------------

std::string product_of(const char* a, const char* b, const char* y, bool transposed, bool weights) {
    const std::string inputs =
        weights ? fmt::format("@input {{ a: real[{}]; }} @variable {{ w: real[{}]; }}", a, b)
                : fmt::format("@input {{ a: real[{}]; w: real[{}]; }}", a, b);
    return fmt::format(
        "import linalg; graph G {{ {} @output {{ y: real[{}]; }} "
        "@compose {{ y = linalg.matmul{{transB = {}}}(a, w); }} }}",
        inputs,
        y,
        transposed ? "true" : "false");
}

TEST(EngineTerms, ProductsOfMatricesAreWithinTheirBound) {
    for (const bool weights : {true, false}) {
        print("64 products", check(product_of("32, 64", "64, 48", "32, 48", false, weights), 64));
        print("77 products", check(product_of("19, 77", "77, 21", "19, 21", false, weights), 77));
        print("512 products", check(product_of("9, 512", "70, 512", "9, 70", true, weights), 512));
        print("2048 products",
              check(product_of("40, 2048", "2048, 33", "40, 33", false, weights), 2048));
    }
}

TEST(EngineTerms, BatchesOfProductsAreWithinTheirBound) {
    for (const bool transposed : {true, false}) {
        const char* const b = transposed ? "3, 37, 64" : "3, 64, 37";
        check(product_of("3, 24, 64", b, "3, 24, 37", transposed, false), 64);
    }
    check(product_of("2, 7, 31", "2, 31, 16", "2, 7, 16", false, false), 31);
}

// Three points fill a tile too badly.
TEST(EngineTerms, FewPointsStayFloats) {
    check(product_of("3, 512", "512, 64", "3, 64", false, true), 512, false);
    check(product_of("1, 512", "512, 64", "1, 64", false, true), 512, false);
}

// ---- f16 ----------------------------------------------------------------------------------------

// Both terms of an f16 are exact, so that default numerics may have them.
void check_f16(const std::string& text, double products, bool possible = true) {
    SCOPED_TRACE(text);
    const auto load = [&](const auto& weight) {
        return load_text(text, weight, tensor::DType::F16);
    };
    const auto state = load(weight);
    ASSERT_TRUE(state);
    const NamedArrays inputs = random_inputs(state->program());
    const NamedArrays sizes = sizes_of(inputs);
    const auto wanted = run_interpreter(*load(weight), inputs);
    const auto scale = run_interpreter(*load(size_of_weight), sizes);
    ASSERT_TRUE(wanted && scale);
    PlanRunner runner(*state, kAlways, Numerics::Default);
    EXPECT_EQ(runner.schedules().find(" terms") != std::string::npos, possible)
        << runner.schedules();
    const std::vector<double> got = runner.run(inputs);
    const std::vector<double>& want = wanted->at("y")[0].reals;
    const std::vector<double>& of = scale->at("y")[0].reals;
    ASSERT_EQ(got.size(), want.size());
    size_t equal = 0;
    for (size_t i = 0; i < want.size(); ++i) {
        // The sum is rounded to f16: a tiny error may turn into a whole step of that.
        const double step = std::fmax(std::fabs(want[i]) * 0x1p-10, 0x1p-24);
        const double error = (0x1p-18 + products * 0x1p-24) * of[i];
        ASSERT_LE(std::fabs(got[i] - want[i]), step + error) << i;
        equal += got[i] == want[i];
    }
    EXPECT_GE(static_cast<double>(equal), 0.97 * static_cast<double>(want.size()));
}

TEST(EngineTerms, SumsOfF16AreThoseOfFloats) {
    check_f16(text_of({1, 64, 8, 16, 64, 1, 1, 0, 1, 1}), 64);
    check_f16(text_of({1, 32, 14, 14, 32, 3, 1, 1, 1, 1}), 288);
    check_f16(text_of({1, 3, 23, 23, 24, 7, 2, 3, 1, 1}), 147);
    check_f16(text_of({2, 17, 7, 7, 33, 3, 1, 1, 1, 1}), 153);
    check_f16(text_of({1, 48, 9, 9, 96, 3, 1, 1, 1, 2}), 216);
    for (const bool weights : {true, false}) {
        check_f16(product_of("19, 77", "77, 21", "19, 21", false, weights), 77);
        check_f16(product_of("40, 2048", "2048, 33", "40, 33", false, weights), 2048);
    }
    check_f16(product_of("3, 24, 64", "3, 37, 64", "3, 24, 37", true, false), 64);
}

// There the product that is left out would be more than the roundings of the additions.
TEST(EngineTerms, ShortSumsOfF16StayFloats) {
    check_f16(product_of("32, 63", "63, 48", "32, 48", false, true), 63, false);
}

TEST(EngineTerms, SubnormalF16AreNoZeros) {
    const auto state =
        load_text(product_of("8, 64", "64, 16", "8, 16", false, false), weight, tensor::DType::F16);
    ASSERT_TRUE(state);
    NamedArrays inputs = random_inputs(state->program());
    for (double& value : inputs.at("a")[0].reals) value = 0x1p-24;
    for (double& value : inputs.at("w")[0].reals) value = 1000;
    PlanRunner runner(*state, kAlways, Numerics::Default);
    ASSERT_NE(runner.schedules().find(" terms"), std::string::npos) << runner.schedules();
    for (const double value : runner.run(inputs)) EXPECT_EQ(value, 0x1.F4p-9);  // 64000 * 2^-24
}

// ---- Values at the ends of the range ------------------------------------------------------------

struct Ends {
    double a, b;  // two factors among products of 1/4 and 1/4
    double want;
};

TEST(EngineTerms, InfiniteAndLargeFactorsAreThoseOfFloats) {
    constexpr double kLargest = std::numeric_limits<float>::max();
    constexpr double kLargestBf16 = 0x1.FEp127;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Ends ends[] = {
        {kInfinity, 1.3, kInfinity},
        {-kInfinity, 0.7, -kInfinity},
        {kInfinity, -1000.1, -kInfinity},
        {kInfinity, 0x1p-100, kInfinity},
        {0.9, kInfinity, kInfinity},
        {-0x1p-90, kInfinity, -kInfinity},
        {kInfinity, kInfinity, kInfinity},
        {kInfinity, -kInfinity, -kInfinity},
        {kInfinity, 0, nan},
        {nan, 1, nan},
        {1, nan, nan},
        {nan, 0, nan},
        {kLargestBf16, 0.4, kLargestBf16 * 0.4},
        {0.4, -kLargestBf16, -kLargestBf16 * 0.4},
        {kLargest, 0.5, kInfinity},  // its nearest bf16 is infinite
        {1e30, 1e-30, 1},
    };
    constexpr size_t kDepth = 40, kColumns = 16, kAt = 5;
    const std::string text = product_of("8, 40", "40, 16", "8, 16", false, false);
    for (const Ends& e : ends) {
        SCOPED_TRACE(fmt::format("{} * {}", e.a, e.b));
        const auto state = load_text(text);
        ASSERT_TRUE(state);
        NamedArrays inputs = random_inputs(state->program());
        for (auto& [name, items] : inputs) std::ranges::fill(items[0].reals, 0.25);
        std::vector<double>& a = inputs.at("a")[0].reals;
        std::vector<double>& b = inputs.at("w")[0].reals;
        a[2 * kDepth + kAt] = e.a;
        b[kAt * kColumns + 3] = e.b;
        inputs.at("a")[0].round();
        inputs.at("w")[0].round();
        PlanRunner runner(*state, kAlways);
        ASSERT_NE(runner.schedules().find(" terms"), std::string::npos);
        const std::vector<double> y = runner.run(inputs);
        const double got = y[2 * kColumns + 3];
        if (std::isnan(e.want)) {
            EXPECT_TRUE(std::isnan(got)) << got;
        } else if (std::isinf(e.want)) {
            EXPECT_EQ(got, e.want);
        } else {
            const double want = e.want + (kDepth - 1) * 0.0625;
            EXPECT_NEAR(got, want, std::fabs(want) * 0x1p-15);
        }
        EXPECT_EQ(y[0], kDepth * 0.0625);  // no product with one of them
    }
}

TEST(EngineTerms, SumsOfFewBitsAreExact) {
    const auto state =
        load_text(text_of({1, 32, 9, 9, 40, 3, 1, 1, 1, 1}), [](const auto&, uint64_t i) {
            return static_cast<double>(interpret::random_bits(7, i) % 4095) - 2047;
        });
    ASSERT_TRUE(state);
    NamedArrays inputs = random_inputs(state->program());
    for (double& value : inputs.at("x")[0].reals) value = std::rint(16 * value);
    const auto wanted = run_interpreter(*state, inputs);
    ASSERT_TRUE(wanted);
    PlanRunner runner(*state, kAlways);
    ASSERT_NE(runner.schedules().find(" terms"), std::string::npos);
    EXPECT_EQ(runner.run(inputs), wanted->at("y")[0].reals);
}

// ---- Kernels ------------------------------------------------------------------------------------

// A step loads each of eight tiles once for twelve products. Products of the same total are at
// least three apart.
TEST(EngineTerms, StepsLoadEachTileOnce) {
    const auto state = load_text(product_of("32, 64", "64, 32", "32, 32", false, true));
    ASSERT_TRUE(state);
    PlanRunner runner(*state, kAlways);
    std::string text;
    for (const loop::PlanStep& step : runner.plan().steps) {
        if (step.kernel()->schedule.ends_with(" terms")) {
            text = loop::print(step.kernel()->function);
        }
    }
    const size_t begin = text.find("      t6 = ");
    const size_t end = text.find("    b", begin);
    ASSERT_NE(begin, std::string::npos) << text;
    EXPECT_EQ(text.substr(begin, end - begin), R"(      t6 = b0[0 + 4096*v2 + 2048*v4] rows by 128
      t7 = b0[32 + 4096*v2 + 2048*v4] rows by 128
      t4 = b1[0 + 32*v4 + 64*v7] rows by 64
      t5 = b1[2048 + 32*v4 + 64*v10] rows by 64
      t0 += t4 * t6 bf16
      t2 += t5 * t6 bf16
      t1 += t4 * t7 bf16
      t3 += t5 * t7 bf16
      t5 = b1[2048 + 32*v4 + 64*v7] rows by 64
      t0 += t5 * t6 bf16
      t1 += t5 * t7 bf16
      t5 = b1[0 + 32*v4 + 64*v10] rows by 64
      t2 += t5 * t6 bf16
      t3 += t5 * t7 bf16
      t6 = b0[64 + 4096*v2 + 2048*v4] rows by 128
      t0 += t4 * t6 bf16
      t2 += t5 * t6 bf16
      t7 = b0[96 + 4096*v2 + 2048*v4] rows by 128
      t1 += t4 * t7 bf16
      t3 += t5 * t7 bf16
)") << text;
}

// ---- Choice -------------------------------------------------------------------------------------

std::string schedules_of(const std::string& text, const loop::PlanOptions& options) {
    const auto state = load_text(text);
    EXPECT_TRUE(state);
    std::string schedules;
    if (!state) return schedules;
    for (const loop::PlanStep& step : loop::make_plan(state->program(), {}, options).steps) {
        schedules += step.kernel()->schedule + "; ";
    }
    return schedules;
}

TEST(EngineTerms, OfF32OnlyFastNumericsHaveThem) {
    const std::string text = product_of("256, 256", "256, 256", "256, 256", false, true);
    loop::PlanOptions options{.target = tile_target(), .numerics = Numerics::Fast};
    EXPECT_NE(schedules_of(text, options).find(" terms"), std::string::npos);
    options.target.threads = loop::kAnyThreads;
    EXPECT_NE(schedules_of(text, options).find(" terms"), std::string::npos);
    options.numerics = Numerics::Default;
    EXPECT_EQ(schedules_of(text, options).find(" terms"), std::string::npos);
    options.numerics = Numerics::Fast;
    options.target.bf16_tiles = false;
    EXPECT_EQ(schedules_of(text, options).find(" terms"), std::string::npos);
}

// Reading the weights takes all of the time.
TEST(EngineTerms, ProductsWithVectorsHaveNone) {
    const loop::PlanOptions options{.target = tile_target(), .numerics = Numerics::Fast};
    const std::string text = product_of("1, 1024", "1024, 1024", "1, 1024", false, true);
    EXPECT_EQ(schedules_of(text, options).find(" terms"), std::string::npos);
}

// Products with one operand have its terms in common.
TEST(EngineTerms, ReadersShareTerms) {
    constexpr const char* kShared = R"(import nn; import math;
graph G {
    @input { x: real[1, 64, 14, 14]; }
    @output { y: real[1, 64, 14, 14]; }
    @variable { u: real[64, 64, 3, 3]; w: real[64, 64, 1, 1]; }
    @compose { a = nn.conv{padding = 1}(x, u); b = nn.conv(x, w); y = math.mul(a, b); }
})";
    const auto state = load_text(kShared, weight);
    ASSERT_TRUE(state);
    PlanRunner runner(*state, kAlways);
    size_t makers = 0, readers = 0;
    for (const loop::PlanStep& step : runner.plan().steps) {
        makers += step.label.ends_with(" terms");
        readers += step.kernel()->schedule.ends_with(" terms");
    }
    EXPECT_EQ(makers, 1U);
    EXPECT_EQ(readers, 2U);
    const NamedArrays inputs = random_inputs(state->program());
    const auto wanted = run_interpreter(*load_text(kShared, weight), inputs);
    ASSERT_TRUE(wanted);
    const std::vector<double> got = runner.run(inputs);
    const std::vector<double>& want = wanted->at("y")[0].reals;
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 2e-3) << i;
}

// A sum stores the terms of its result for the next one: beside the result, which the last sum
// adds, or in its place. The model has an epilogue, zeros around terms, and a stride.
TEST(EngineTerms, SumsStoreTermsForOthers) {
    constexpr const char* kChain = R"(import nn; import math;
graph G {
    @input { x: real[1, 32, 28, 28]; }
    @output { y: real[1, 40, 14, 14]; }
    @variable { u: real[48, 32, 1, 1]; v: real[48, 48, 3, 3]; w: real[40, 48, 1, 1]; bias: real[48]; }
    @compose {
        a = nn.conv(x, u, bias); b = nn.relu(a);
        c = nn.conv{padding = 1}(b, v); d = math.add(c, b); e = nn.relu(d);
        y = nn.conv{stride = 2, padding = 0}(e, w);
    }
})";
    const auto scaled = [](const std::string& name, uint64_t i) { return weight(name, i) / 16; };
    const auto state = load_text(kChain, scaled);
    ASSERT_TRUE(state);
    PlanRunner runner(*state, kAlways);
    size_t makers = 0, readers = 0, stored = 0;
    for (const loop::PlanStep& step : runner.plan().steps) {
        makers += step.label.ends_with(" terms");
        if (!step.kernel()->schedule.ends_with(" terms")) continue;
        ++readers;
        for (const loop::Buffer& buffer : step.kernel()->function.buffers) {
            stored += buffer.written && buffer.dtype == tensor::DType::BF16;
        }
    }
    EXPECT_EQ(makers, 1U);  // of the input
    EXPECT_EQ(readers, 3U);
    EXPECT_EQ(stored, 2U);
    const NamedArrays inputs = random_inputs(state->program());
    const auto wanted = run_interpreter(*load_text(kChain, scaled), inputs);
    ASSERT_TRUE(wanted);
    const std::vector<double> got = runner.run(inputs);
    const std::vector<double>& want = wanted->at("y")[0].reals;
    double largest = 0;
    for (const double value : want) largest = std::fmax(largest, std::fabs(value));
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], largest * 3e-5) << i;
}

// So does a map. One map serves two products, another one is also an output.
TEST(EngineTerms, MapsStoreTermsForSums) {
    constexpr const char* kMaps = R"(import nn; import math; import linalg;
graph G {
    @input { x: real[24, 40]; z: real[24, 40]; u: real[40, 33]; v: real[40, 17]; w: real[40, 16]; }
    @output { y: real[24, 33]; s: real[24, 17]; t: real[24, 16]; e: real[24, 40]; }
    @compose {
        a = math.add(x, z); b = nn.relu(a);
        y = linalg.matmul(b, u); s = linalg.matmul(b, v);
        e = math.sub(x, z); t = linalg.matmul(e, w);
    }
})";
    const auto state = load_text(kMaps);
    ASSERT_TRUE(state);
    PlanRunner runner(*state, kAlways);
    size_t makers = 0, readers = 0;
    for (const loop::PlanStep& step : runner.plan().steps) {
        makers += step.label.ends_with(" terms");
        readers += step.kernel()->schedule.ends_with(" terms");
    }
    EXPECT_EQ(makers, 1U);  // of the output
    EXPECT_GE(readers, 2U);
    const NamedArrays inputs = random_inputs(state->program());
    const auto wanted = run_interpreter(*load_text(kMaps), inputs);
    ASSERT_TRUE(wanted);
    for (const char* const name : {"y", "s", "t", "e"}) {
        const std::vector<double> got = runner.run(inputs, name);
        const std::vector<double>& want = wanted->at(name)[0].reals;
        ASSERT_EQ(got.size(), want.size());
        for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-3) << name;
    }
}

// The kernels that make terms, and those that pack them, leave the same bits as machine code.
TEST(EngineTerms, CodeThatMakesTermsEqualsItsEvaluation) {
    constexpr float kValues[] = {0.0f,
                                 -0.0f,
                                 1.0f,
                                 0x1.01p0f,
                                 -0x1.00FFFEp0f,
                                 0x1.FF7p20f,
                                 0x1.FEFFFEp127f,
                                 0x1.FFp127f,
                                 -std::numeric_limits<float>::max(),
                                 std::numeric_limits<float>::infinity(),
                                 -std::numeric_limits<float>::infinity(),
                                 std::numeric_limits<float>::quiet_NaN(),
                                 0x1p-126f,
                                 -0x1.234p-130f,
                                 0x1.2345p-118f};
    // Zeros, one, its neighbours, the largest, the smallest, infinities and NaN.
    constexpr uint16_t kHalves[] = {0,
                                    0x8000,
                                    0x3C00,
                                    0x3C01,
                                    0xBBFF,
                                    0x7BFF,
                                    0xFBFF,
                                    0x0400,
                                    0x83FF,
                                    0x0001,
                                    0x8001,
                                    0x7C00,
                                    0xFC00,
                                    0x7E00};
    const auto compiler = codegen::Compiler::create({.numerics = Numerics::Fast});
    ASSERT_TRUE(compiler) << compiler.error().message;
    size_t makers = 0;
    const struct {
        const char *b, *y;
        tensor::DType real;
    } cases[] = {{"48, 64", "24, 64", tensor::DType::F32},
                 {"48, 37", "24, 37", tensor::DType::F32},
                 {"48, 64", "24, 64", tensor::DType::F16},
                 {"48, 37", "24, 37", tensor::DType::F16}};
    for (const auto& [b, y, real] : cases) {
        const auto state = load_text(product_of("24, 48", b, y, false, false), weight, real);
        ASSERT_TRUE(state);
        loop::Plan plan = loop::make_plan(state->program(), {}, options_for(kAlways));
        for (loop::PlanStep& step : plan.steps) {
            loop::ScheduledKernel* const kernel = step.kernel();
            if (!kernel->function.tiles.empty()) continue;
            const auto code = (*compiler)->compile({&kernel, 1}, 1);
            ASSERT_TRUE(code) << code.error().message;
            std::vector<std::vector<float>> memory[2];
            std::vector<void*> buffers[2];
            for (const int side : {0, 1}) {
                for (const StorageId id : kernel->arguments) {
                    std::vector<float>& floats =
                        memory[side].emplace_back(plan.storages[id].elements);
                    for (size_t i = 0; i < floats.size(); ++i) {
                        floats[i] = kValues[interpret::random_bits(3, i) % std::size(kValues)];
                    }
                    if (plan.storages[id].dtype != tensor::DType::F16) continue;
                    auto* const bytes = reinterpret_cast<std::byte*>(floats.data());
                    for (size_t i = 0; i < floats.size(); ++i) {
                        const uint64_t at = interpret::random_bits(3, i) % std::size(kHalves);
                        std::memcpy(bytes + 2 * i, &kHalves[at], 2);
                    }
                }
                for (std::vector<float>& floats : memory[side]) {
                    buffers[side].push_back(floats.data());
                }
            }
            loop::run_function(kernel->function, buffers[0].data(), 0, kernel->function.items);
            (*code)[0](buffers[1].data(), 0, kernel->function.items);
            for (size_t i = 0; i < memory[0].size(); ++i) {
                const size_t bytes = memory[0][i].size() * sizeof(float);
                EXPECT_EQ(std::memcmp(memory[0][i].data(), memory[1][i].data(), bytes), 0)
                    << loop::print(kernel->function);
            }
            ++makers;
        }
    }
    EXPECT_EQ(makers, 8U);
}

// As machine code, on this processor.
void check_code(tensor::DType real, Numerics numerics, double relative) {
    const Conv c{1, 64, 14, 14, 64, 3, 1, 1, 1, 1};
    const auto state = load_text(text_of(c), weight, real);
    ASSERT_TRUE(state);
    const NamedArrays inputs = random_inputs(state->program());
    const auto wanted = run_interpreter(*load_text(text_of(c), weight, real), inputs);
    ASSERT_TRUE(wanted);
    std::vector<double> first;
    for (const int threads : {1, 2, 3}) {
        auto engine = engine::Engine::create(*state,
                                             {.verify = true,
                                              .threads = threads,
                                              .window_share = 0,
                                              .term_share = kAlways,
                                              .compiler = {.numerics = numerics}});
        ASSERT_TRUE(engine) << engine.error().message;
        const auto got = (*engine)->run(inputs);
        ASSERT_TRUE(got) << got.error().message;
        const std::vector<double>& y = got->at("y")[0].reals;
        if (first.empty()) first = y;
        EXPECT_TRUE(y == first) << threads;
        for (size_t i = 0; i < y.size(); ++i) {
            const double want = wanted->at("y")[0].reals[i];
            ASSERT_NEAR(y[i], want, 2e-3 + relative * std::fabs(want)) << i;
        }
    }
}
TEST(EngineTerms, CodeIsWithinTheBound) { check_code(tensor::DType::F32, Numerics::Fast, 0); }
TEST(EngineTerms, CodeOfF16IsWithinTheBound) {
    check_code(tensor::DType::F16, Numerics::Default, 0x1p-10);
}

}  // namespace
}  // namespace lemma
