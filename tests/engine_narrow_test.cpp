// SPDX-License-Identifier: Apache-2.0
// Weights of few bits, which kernels turn into numbers, against the interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/engine.h"
#include "interpret/random.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using engine::Engine;
using testing_support::load_text;
using testing_support::random_inputs;
using testing_support::run_interpreter;

struct Model {
    const char* value;  // of weight i, j
    tensor::DType dtype;
    const char* schedule;  // a part of the kernel's schedule
    int64_t units = 256;
    int64_t rows = 1;
    int64_t steps = 96;
};

std::string text_of(const Model& model) {
    return fmt::format(R"(
import linalg;
operator unpacked {{
    @input {{ w: int[k, n]; scale: real[3, n]; zero: int[3, n]; channel: real[n]; }}
    @output {{ y: real[k, n]; }}
    @lower {{ y[i, j] = {}, i < k, j < n; }}
}}
graph Product {{
    @input {{ x: real[{}, {}]; }}
    @output {{ y: real[{}, {}]; }}
    @variable {{
        w: int[{}, {}]; scale: real[3, {}]; zero: int[3, {}]; channel: real[{}];
    }}
    @compose {{
        weights = unpacked(w, scale, zero, channel);
        y = linalg.matmul(x, weights);
    }}
}})",
                       model.value,
                       model.rows,
                       model.steps,
                       model.rows,
                       model.units,
                       model.steps,
                       model.units,
                       model.units,
                       model.units,
                       model.units);
}

std::unique_ptr<interpret::State> load(const Model& model) {
    const auto scale = [](const std::string& name, uint64_t i) {
        return 0.01 + 0.02 * interpret::random_unit(name.size(), i);
    };
    auto state = load_text(text_of(model), scale, ir::DType::F32, [&](ir::Program& program) {
        for (ir::Tensor& tensor : program.tensors) {
            if (tensor.name == "w") tensor.dtype = model.dtype;
            if (tensor.name == "zero") tensor.dtype = tensor::DType::U8;
        }
    });
    const auto fill = [&](const char* name, tensor::DType dtype, tensor::Shape shape, int64_t low) {
        interpret::Array value = interpret::Array::zeros(dtype, std::move(shape)).value();
        for (size_t i = 0; i < value.integers.size(); ++i) {
            value.integers[i] = low + static_cast<int64_t>(interpret::random_bits(7, i) & 255);
        }
        EXPECT_TRUE(state->set_variable(name, std::move(value)));
    };
    fill("w", model.dtype, {model.steps, model.units}, model.dtype == tensor::DType::I8 ? -128 : 0);
    fill("zero", tensor::DType::U8, {3, model.units}, 0);
    return state;
}

// The schedules of kernels that sum products, and the bytes of constants.
struct Made {
    std::string schedules;
    int64_t bytes = 0;
};
Made made_of(const loop::Plan& plan) {
    Made made;
    for (const loop::PlanStep& step : plan.steps) {
        const auto* const kernel = step.kernel();
        if (kernel && !step.once) made.schedules += kernel->schedule + "; ";
    }
    for (const loop::Storage& storage : plan.storages) {
        const bool stays = storage.role == loop::StorageRole::Constant && !storage.only_once;
        if (stays) made.bytes += storage.elements * tensor::dtype_size(storage.dtype);
    }
    return made;
}

void compare(const Model& model) {
    const auto oracle = load(model);
    const auto own = load(model);
    ASSERT_TRUE(oracle && own);
    const auto inputs = random_inputs(oracle->program());
    const auto want = run_interpreter(*oracle, inputs);
    ASSERT_TRUE(want) << want.error().message;
    std::vector<double> first;
    for (const int threads : {1, 2}) {
        for (const bool guarded : {false, true}) {
            auto engine =
                Engine::create(*own, {.verify = true, .threads = threads, .guarded = guarded});
            ASSERT_TRUE(engine) << engine.error().message;
            const auto got = (*engine)->run(inputs);
            ASSERT_TRUE(got) << got.error().message;
            const auto& a = got->at("y")[0].reals;
            const auto& b = want->at("y")[0].reals;
            ASSERT_EQ(a.size(), b.size());
            for (size_t i = 0; i < a.size(); ++i) {
                // The terms of a small sum are as large as those of others.
                const double size = static_cast<double>(model.steps) / 96 + std::fabs(b[i]);
                ASSERT_NEAR(a[i], b[i], 2e-5 * size) << model.value << " at " << i;
            }
            if (first.empty()) first = a;
            EXPECT_EQ(a, first) << model.value;
            const Made made = made_of((*engine)->plan());
            EXPECT_NE(made.schedules.find(model.schedule), std::string::npos)
                << model.value << ": " << made.schedules;
        }
    }
}

constexpr auto kSigned = tensor::DType::I8;
constexpr auto kUnsigned = tensor::DType::U8;

TEST(Narrow, BytesWithAScaleForEachChannel) {
    compare({"real(w[i, j]) * channel[j,]", kSigned, "of i8"});
    compare({"real(w[i, j]) * channel[j,]", kUnsigned, "of u8"});
    compare({"(real(w[i, j]) - real(zero[0, j])) * channel[j,]", kUnsigned, "of u8"});
}

TEST(Narrow, BytesWithScalesForBlocks) {
    compare({"real(w[i, j]) * scale[i / 32, j]", kSigned, "of i8"});
    compare({"(real(w[i, j]) - real(zero[i / 32, j])) * scale[i / 32, j]", kUnsigned, "of u8"});
    compare({"(real(w[i, j]) - real(zero[i / 32, j])) * scale[i / 32, j] * channel[j,]",
             kSigned,
             "of i8"});
}

TEST(Narrow, FourBitsAreTwoNumbersInAByte) {
    compare({"(real(w[i, j] % 16) - 8.0) * scale[i / 32, j]", kUnsigned, "of 4 bits"});
    compare({"real(w[i, j] % 16) * channel[j,]", kUnsigned, "of 4 bits"});
    // The tile of three rows has three vectors on some targets, and then bytes.
    compare({"(real(w[i, j] % 16) - 8.0) * scale[i / 32, j]", kUnsigned, "of ", 256, 3});
}

// Channels that do not fill the vectors.
TEST(Narrow, OddNumbersOfChannels) {
    compare({"real(w[i, j]) * scale[i / 32, j]", kSigned, "of i8", 83});
    compare({"(real(w[i, j] % 16) - 8.0) * channel[j,]", kUnsigned, "of u8", 83});
    compare({"(real(w[i, j]) - real(zero[0, j])) * channel[j,]", kUnsigned, "of u8", 1001});
}

// Sections with one scale: of groups, of a long sum, and of a rest; and groups too short for one.
TEST(Narrow, SectionsOfAnyLength) {
    for (const int64_t steps : {17, 37, 333, 1000, 1003}) {
        compare({"real(w[i, j]) * channel[j,]", kSigned, "of i8", 256, 1, steps});
        compare({"real(w[i, j]) * channel[j,]", kSigned, "of i8", 83, 3, steps});
    }
    for (const int64_t group : {4, 7, 8, 11, 64, 333}) {
        const std::string value =
            fmt::format("(real(w[i, j]) - real(zero[i / {0}, j])) * scale[i / {0}, j]", group);
        compare({value.c_str(), kUnsigned, "of u8", 512, 1, 3 * group});
    }
}

// Many rows use the weights often: they are unpacked once.
TEST(Narrow, ManyRowsUseFloats) {
    const Model model = {"real(w[i, j]) * channel[j,]", kSigned, "tile", 256, 16};
    compare(model);
    const auto state = load(model);
    auto engine = Engine::create(*state, {});
    ASSERT_TRUE((*engine)->run(random_inputs(state->program())));
    EXPECT_EQ(made_of((*engine)->plan()).schedules.find(" of "), std::string::npos);
}

TEST(Narrow, TheMemoryOfWeightsIsNarrow) {
    const Model model = {"(real(w[i, j] % 16) - 8.0) * channel[j,]", kUnsigned, "", 1024, 1, 96};
    const auto state = load(model);
    auto engine = Engine::create(*state, {});
    ASSERT_TRUE((*engine)->run(random_inputs(state->program())));
    const int64_t weights = 96 * 1024;
    EXPECT_LT((*engine)->bytes(), 3 * weights);  // as floats: 4 * weights
}

// A whole model of 16 bits: weights and operands. Pairs of bf16 may have kernels of their own.
TEST(Narrow, ModelsOf16BitsKeepTheirWeights) {
    for (const tensor::DType real : {tensor::DType::F16, tensor::DType::BF16}) {
        const auto load = [&] {
            return load_text(R"(
import linalg;
graph Product {
    @input { x: real[2, 300]; }
    @output { y: real[2, 512]; }
    @variable { w: real[300, 512]; }
    @compose { y = linalg.matmul(x, w); }
})",
                             testing_support::small_weight,
                             real);
        };
        const auto state = load();
        ASSERT_TRUE(state);
        const auto inputs = random_inputs(state->program());
        auto engine = Engine::create(*state, {.verify = true, .guarded = true});
        ASSERT_TRUE(engine) << engine.error().message;
        const auto got = (*engine)->run(inputs);
        ASSERT_TRUE(got) << got.error().message;
        const auto wanted = run_interpreter(*load(), inputs);
        ASSERT_TRUE(wanted);
        const double step = real == tensor::DType::BF16 ? 0x1p-7 : 0x1p-10;
        for (size_t i = 0; i < wanted->at("y")[0].reals.size(); ++i) {
            const double value = wanted->at("y")[0].reals[i];
            ASSERT_NEAR(got->at("y")[0].reals[i], value, std::fabs(value) * step + 1e-5) << i;
        }
        constexpr int64_t kWeights = int64_t{300} * 512;
        EXPECT_LT((*engine)->bytes(), 3 * kWeights);  // as floats: 4 * weights
    }
}

// ---- Weights of f32, rounded with fast numerics
// ---------------------------------------------------

constexpr int64_t kSteps = 1003, kUnits = 256;

// The sum of one row, with weights that are a function of step and channel.
struct Row {
    std::vector<double> result;
    std::vector<double> sizes, largest;  // of each channel: Σ |a b|, and the largest |b|
    std::string schedules;
    int64_t bytes = 0;
};
Row row_of(loop::Numerics numerics, const std::function<double(int64_t, int64_t)>& weight) {
    Row row;
    const auto state = load_text(fmt::format(R"(
import linalg;
graph Product {{
    @input {{ x: real[1, {0}]; }}
    @output {{ y: real[1, {1}]; }}
    @variable {{ w: real[{0}, {1}]; }}
    @compose {{ y = linalg.matmul(x, w); }}
}})",
                                             kSteps,
                                             kUnits));
    if (!state) return row;
    interpret::Array weights =
        interpret::Array::zeros(tensor::DType::F32, {kSteps, kUnits}).value();
    const auto inputs = random_inputs(state->program());
    const auto& x = inputs.at("x")[0].reals;
    row.sizes.resize(kUnits);
    row.largest.resize(kUnits);
    for (int64_t i = 0; i < kSteps; ++i) {
        for (int64_t j = 0; j < kUnits; ++j) {
            const double value = static_cast<float>(weight(i, j));
            weights.reals[i * kUnits + j] = value;
            row.sizes[j] += std::fabs(x[i] * value);
            row.largest[j] = std::max(row.largest[j], std::fabs(value));
        }
    }
    EXPECT_TRUE(state->set_variable("w", std::move(weights)));
    auto engine = Engine::create(
        *state, {.verify = true, .compiler = {.numerics = numerics}, .guarded = true});
    EXPECT_TRUE(engine);
    const auto got = (*engine)->run(inputs);
    EXPECT_TRUE(got);
    row.result = got->at("y")[0].reals;
    const Made made = made_of((*engine)->plan());
    row.schedules = made.schedules;
    row.bytes = made.bytes;
    return row;
}

double random_weight(int64_t i, int64_t j) {
    return interpret::random_unit(3, static_cast<uint64_t>(i * kUnits + j)) - 0.5;
}

// Every weight has an error of 2^-11 of itself, or of 2^-40 of the largest in its channel.
void expect_rounded(const std::function<double(int64_t, int64_t)>& weight) {
    const Row exact = row_of(loop::Numerics::Default, weight);
    const Row fast = row_of(loop::Numerics::Fast, weight);
    EXPECT_EQ(exact.schedules.find("of f16"), std::string::npos) << exact.schedules;
    EXPECT_NE(fast.schedules.find("of f16"), std::string::npos) << fast.schedules;
    EXPECT_LT(fast.bytes, exact.bytes * 0.52);
    ASSERT_EQ(fast.result.size(), static_cast<size_t>(kUnits));
    for (int64_t j = 0; j < kUnits; ++j) {
        const double bound = std::ldexp(exact.sizes[j], -11) +
                             std::ldexp(exact.largest[j] * kSteps, -40) + 4e-6 * exact.sizes[j];
        ASSERT_NEAR(fast.result[j], exact.result[j], bound) << "channel " << j;
    }
}

TEST(RoundedWeights, AreWithinElevenBits) {
    expect_rounded(random_weight);
    // Channels of all sizes, and weights of all sizes in a channel.
    expect_rounded([](int64_t i, int64_t j) {
        return std::ldexp(random_weight(i, j), static_cast<int>(j % 200) - 100);
    });
    expect_rounded([](int64_t i, int64_t j) {
        return std::ldexp(random_weight(i, j), -static_cast<int>(i % 60));
    });
}

TEST(RoundedWeights, ChannelsOfZerosAndOfNumbersThatAreNotFinite) {
    const auto weight = [](int64_t i, int64_t j) {
        if (j % 4 == 1) return 0.0;
        if (j % 4 == 2 && i == j) return HUGE_VAL;
        if (j % 4 == 3 && i == j) return std::nan("");
        return random_weight(i, j);
    };
    const Row exact = row_of(loop::Numerics::Default, weight);
    const Row fast = row_of(loop::Numerics::Fast, weight);
    ASSERT_NE(fast.schedules.find("of f16"), std::string::npos) << fast.schedules;
    for (int64_t j = 0; j < kUnits; ++j) {
        const double want = exact.result[j], got = fast.result[j];
        if (std::isnan(want)) {
            EXPECT_TRUE(std::isnan(got)) << "channel " << j;
        } else if (std::isinf(want)) {
            EXPECT_EQ(got, want) << "channel " << j;
        } else {
            EXPECT_NEAR(got, want, 1e-3 * exact.sizes[j]) << "channel " << j;
        }
    }
}

}  // namespace
}  // namespace lemma
