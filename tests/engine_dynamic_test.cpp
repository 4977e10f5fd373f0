// SPDX-License-Identifier: Apache-2.0
// Kernels with run-time extents against the interpreter: the same code with other extents in each
// run, including empty ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/engine.h"
#include "interpret/random.h"
#include "session/tensors.h"
#include "support/engine_models.h"
#include "support/loop_evaluator.h"
#include "support/run_extents.h"

namespace lemma {
namespace {

using engine::Engine;
using interpret::Array;
using interpret::NamedArrays;
using testing_support::load_text;
using testing_support::run_interpreter;

// The rows that a run keeps, out of 40 each; larger models scale both numbers.
struct Kept {
    int p, q;
};
std::vector<Kept> runs() {
    std::vector<Kept> result = {{17, 5}, {40, 40}, {0, 0}, {1, 33}, {0, 7}, {16, 32}, {17, 5}};
    const auto some = [](uint64_t i) {
        return static_cast<int>(interpret::random_unit(11, i) * 41);
    };
    for (uint64_t i = 0; i < 8; i += 2) result.push_back({some(i), some(i + 1)});
    return result;
}

void set_mask(NamedArrays& inputs, const std::string& name, int kept, uint64_t seed) {
    Array& mask = inputs.at(name)[0];
    std::ranges::fill(mask.integers, 0);
    const size_t rows = mask.integers.size();
    for (uint64_t i = 0; kept > 0; ++i) {
        const double unit = interpret::random_unit(seed, i);
        const auto at = static_cast<size_t>(unit * static_cast<double>(rows)) % rows;
        if (mask.integers[at] == 0) --kept;
        mask.integers[at] = 1;
    }
}

void expect_equal(const Array& got, const Array& want, bool exactly, const std::string& text) {
    ASSERT_EQ(got.shape, want.shape) << text;
    EXPECT_EQ(got.integers, want.integers) << text;
    for (size_t i = 0; i < want.reals.size(); ++i) {
        const double a = got.reals[i], b = want.reals[i];
        if (std::isnan(b) || std::isinf(b) || exactly) {
            ASSERT_TRUE((std::isnan(a) && std::isnan(b)) || a == b)
                << a << " is not " << b << " at " << i << text;
            ASSERT_EQ(std::signbit(a), std::signbit(b)) << i << text;
        } else {
            ASSERT_NEAR(a, b, 2e-5 * (1 + std::fabs(b))) << i << text;
        }
    }
}

struct Model {
    const char* body;    // makes `y`
    const char* output;  // the type of `y`
    size_t interpreted = 2;
    bool may_fail = false;  // with some numbers of rows
    int times = 1;          // factor of the numbers of rows
};

constexpr const char* kOperators = R"(
import layout; import linalg; import math; import nn; import algo;
operator rows {
    @input { x: real[n, c]; index: int[1, m]; }
    @output { y: real[m, c]; }
    @lower { y[i, j] = x[index[0, i], j], i < m, j < c; }
}
operator distances {
    @input { x: real[n, d]; y: real[m, d]; }
    @output { z: real[n, m]; }
    @lower { z[i, j] += (x[i, k] - y[j, k]) ** 2.0, i < n, j < m, k < d; }
}
operator neighbours {
    @input { x: real[n, c]; }
    @output { y: real[n, c]; }
    @lower { y[i, j] += x[|i + k - 1|, j], i < n, j < c, k < 3; }
}
operator back {
    @input { x: real[n, c]; }
    @output { y: real[n, c]; }
    @lower { y[i, j] = x[n - 1 - i, j], i < n, j < c; }
}
operator large {
    @input { x: real[n, c]; }
    @output { y: real[n, c]; }
    @lower { y[i, j] = x[i, j] * real(n), i < n, j < c | x[i, j] > 0.1; }
}
operator shifted {
    @input { x: real[n, c]; }
    @output { y: real[n, c]; }
    @lower { y[i, j] = x[i, j] * real(n - 20), i < n, j < c; }
}
operator fourth {
    @input { x: real[n]; }
    @output { y: real[n, n, n, n]; }
    @lower { y[i, j, k, l] = x[i,] + x[j,] + x[k,] + x[l,], i < n, j < n, k < n, l < n; }
}
operator last_of {
    @input { x: real[n, c]; }
    @output { y: real[c]; }
    @lower { y[j,] = -1.0, j < c; y[j,] := x[i, j], i < n, j < c | x[i, j] > 0.0; }
}
)";

std::string text_of(const Model& model) {
    return fmt::format(R"({0}
graph G {{
    @input {{ x: real[{3}, 7]; a: int[{3}]; b: int[{3}]; w: real[7, 19]; wide: real[{3}, 50]; }}
    @output {{ y: {1}; }}
    @compose {{
        in_a = layout.nonzero(a);
        in_b = layout.nonzero(b);
        p = rows(x, in_a);
        q = rows(x, in_b);
        v = rows(wide, in_a);
        {2}
    }}
}})",
                       kOperators,
                       model.output,
                       model.body,
                       40 * model.times);
}

// Kernels stay in their buffers for any extents, even for combinations that no run has.
void check_accesses(const ir::Program& program, const std::string& text) {
    const loop::Plan plan = loop::make_plan(program, {}, {});
    size_t checked = 0;
    for (const loop::PlanStep& step : plan.steps) {
        const auto* const dynamic = std::get_if<loop::DynamicKernel>(&step.kind);
        for (uint64_t seed = 0; dynamic && seed < 12; ++seed) {
            const testing::RunExtents extents(program, step, seed);
            if (!extents.good()) continue;
            std::vector<tensor::Tensor> buffers;
            for (size_t i = 0; i < dynamic->kernel.arguments.size(); ++i) {
                const loop::StorageId id = dynamic->kernel.arguments[i];
                const tensor::DType dtype = dynamic->kernel.function.buffers[i].dtype;
                int64_t elements = 1;
                if (id.valid()) {
                    const loop::Storage& storage = plan.storages[plan.root(id)];
                    const auto moving = extents.elements(storage.tensor);
                    elements = storage.moves && moving ? *moving : storage.elements;
                }
                buffers.push_back(tensor::Tensor::zeros(dtype, {elements}).value());
                if (!id.valid() || id != dynamic->told) {
                    for (int64_t k = 0; k < elements && !tensor::is_real(dtype); ++k) {
                        buffers.back().set_integer(k, k % 3);
                    }
                    continue;
                }
                for (int64_t k = 0; k < elements; ++k) {
                    buffers.back().set_integer(k, extents.told()[static_cast<size_t>(k)]);
                }
            }
            const auto done = testing::evaluate(
                dynamic->kernel.function, {0, extents.items()}, testing::Fma::Fused, buffers);
            ASSERT_TRUE(done) << done.error().message << "\n"
                              << loop::print(dynamic->kernel.function) << text;
            ++checked;
        }
    }
    EXPECT_GT(checked, 0U) << text;
}

void compare(const Model& model, bool strict = false) {
    const std::string text = text_of(model);
    const auto oracle = load_text(text);
    const auto own = load_text(text);
    ASSERT_TRUE(oracle && own) << text;
    if (model.times == 1 && !strict) check_accesses(own->program(), text);
    std::vector<NamedArrays> first;  // results of one thread, by run
    for (const int threads : {1, 2}) {
        size_t run = 0;
        engine::EngineOptions options{.verify = true, .threads = threads};
        if (strict) options.compiler.numerics = loop::Numerics::Strict;
        auto engine = Engine::create(*own, options);
        ASSERT_TRUE(engine) << engine.error().message;
        for (const Kept& kept : runs()) {
            const std::string where = fmt::format("\n{} and {} rows\n{}", kept.p, kept.q, text);
            NamedArrays inputs;
            ASSERT_TRUE(session::add_random_inputs(oracle->program(), 3, inputs));
            set_mask(inputs, "a", kept.p * model.times, 5);
            set_mask(inputs, "b", kept.q * model.times, 6);
            const auto want = run_interpreter(*oracle, inputs);
            const auto got = (*engine)->run(inputs);
            ASSERT_EQ(got.has_value(), want.has_value()) << where;
            if (!want) {
                EXPECT_EQ(got.error().message, want.error().message) << where;
                EXPECT_TRUE(model.may_fail) << want.error().message << where;
                continue;
            }
            expect_equal(got->at("y")[0], want->at("y")[0], strict, where);
            if (threads == 1) first.push_back(*got);
            expect_equal(got->at("y")[0], first[run++].at("y")[0], true, where);
        }
        std::string why;
        size_t interpreted = 0;
        for (const loop::PlanStep& step : (*engine)->plan().steps) {
            const auto* const left = std::get_if<loop::InterpretedStep>(&step.kind);
            if (!left) continue;
            ++interpreted;
            why += "\n" + step.label + ": " + left->why;
        }
        EXPECT_EQ(interpreted, model.interpreted) << text << why;
    }
}

// Proofs that an index is inside its tensor hold for all extents and all steps.
TEST(EngineDynamic, ProofsAreSound) {
    ir::SymbolPool pool;
    const auto extent = [&](const char* name) {
        return pool.symbol(name, ir::ScalarType::Int, {0, INT64_MAX});
    };
    const ir::SymId a = extent("a"), b = extent("b");
    const ir::SymId i = extent("i"), j = extent("j");
    const auto sum = [&](std::initializer_list<std::pair<int64_t, ir::SymId>> terms, int64_t c) {
        ir::SymId result = pool.integer(c);
        for (const auto& [factor, id] : terms) {
            const auto term = pool.apply(ir::SymOp::Mul, pool.integer(factor), id);
            result = *pool.apply(ir::SymOp::Add, result, *term);
        }
        return result;
    };
    const std::vector<ir::Bound> bounds = {{i, a}, {j, sum({{1, b}}, 1)}};
    EXPECT_TRUE(loop::always_inside(pool, i, a, bounds));
    EXPECT_TRUE(
        loop::always_inside(pool, sum({{1, b}, {1, i}}, 0), sum({{1, a}, {1, b}}, 0), bounds));
    EXPECT_TRUE(loop::always_inside(pool, sum({{1, a}, {-1, i}}, -1), a, bounds));
    EXPECT_TRUE(loop::always_inside(pool, sum({{2, i}}, 1), sum({{2, a}}, 0), bounds));
    EXPECT_FALSE(loop::always_inside(pool, i, b, bounds));
    EXPECT_FALSE(loop::always_inside(pool, j, b, bounds));
    EXPECT_FALSE(loop::always_inside(pool, pool.integer(0), a, bounds));
    const auto inside_everywhere = [&](ir::SymId index, ir::SymId size) {
        for (int64_t n = 0; n < 16; ++n) {
            const int64_t va = n % 4, vb = n / 4;
            for (int64_t step = 0; step < va * (vb + 1); ++step) {
                const auto at = [&](ir::SymId id) {
                    return *pool.as_int(*pool.substitute(id,
                                                         {{a, pool.integer(va)},
                                                          {b, pool.integer(vb)},
                                                          {i, pool.integer(step % va)},
                                                          {j, pool.integer(step / va)}}));
                };
                if (at(index) < 0 || at(index) >= at(size)) return false;
            }
        }
        return true;
    };
    size_t proved = 0;
    for (uint64_t round = 0; round < 20000; ++round) {
        const auto small = [&](uint64_t k) {
            return static_cast<int64_t>(interpret::random_unit(round, k) * 5) - 2;
        };
        const ir::SymId index =
            sum({{small(0), a}, {small(1), b}, {small(2), i}, {small(3), j}}, small(4));
        const ir::SymId size = sum({{small(5), a}, {small(6), b}}, small(7));
        if (!loop::always_inside(pool, index, size, bounds)) continue;
        ++proved;
        ASSERT_TRUE(inside_everywhere(index, size))
            << pool.text(index) << " in " << pool.text(size);
    }
    EXPECT_GT(proved, 50U);
}

// Kernels read the first element instead of one outside, but an empty tensor has none.
TEST(EngineDynamic, TensorsWithoutElementsHaveRoom) {
    const auto state = load_text(R"(import layout;
graph G {
    @input { x: real[0, 100]; k: int[3]; }
    @output { y: real[3, 100]; }
    @compose { y = layout.gather{axis = 0}(x, k); }
})");
    ASSERT_TRUE(state);
    const loop::Plan plan = loop::make_plan(state->program(), {}, {});
    ASSERT_EQ(plan.steps.size(), 1U);
    const loop::ScheduledKernel& kernel = *plan.steps[0].kernel();
    std::vector<tensor::Tensor> buffers;
    for (size_t i = 0; i < kernel.arguments.size(); ++i) {
        const loop::StorageId id = kernel.arguments[i];
        const int64_t elements = id.valid() ? plan.storages[id].elements : 1;
        buffers.push_back(
            tensor::Tensor::zeros(kernel.function.buffers[i].dtype, {elements}).value());
    }
    const auto done = testing::evaluate(
        kernel.function, {0, kernel.function.items}, testing::Fma::Fused, buffers);
    EXPECT_TRUE(done) << done.error().message;
}

// The compound passes its input on, and has no step that would check its assertions.
TEST(EngineDynamic, CompoundsWithoutStepsAreChecked) {
    const auto state = load_text(R"(import layout; import math;
graph G {
    @input { k: int[1, 5]; }
    @output { z: int[]; }
    @compose {
        at = layout.nonzero(k);
        column = layout.slice{axes = [0], begin = [0], end = [1]}(at);
        row = layout.flatten(column);
        one = layout.reshape{shape = [1]}(row);
        z = math.sum_reduce{squeeze = true}(one);
    }
})");
    ASSERT_TRUE(state);
    auto engine = Engine::create(*state, {.verify = true});
    ASSERT_TRUE(engine);
    Array k = *Array::zeros(tensor::DType::I64, {1, 5});
    k.integers[3] = 1;
    EXPECT_TRUE((*engine)->run({{"k", {k}}}));
    k.integers[4] = 1;
    const auto two = (*engine)->run({{"k", {k}}});
    ASSERT_FALSE(two);
    EXPECT_NE(two.error().message.find("must keep the volume"), std::string::npos)
        << two.error().message;
}

TEST(EngineDynamic, MapsAndGathers) {
    compare({"y = math.mul(p, 2.0);", "real[~|40, 7]"});
    compare({"y = math.exp(v);", "real[~|40, 50]"});
    compare({"y = layout.transpose(v);", "real[50, ~|40]"});
    compare({"y = back(p);", "real[~|40, 7]"});
    compare({"y = large(p);", "real[~|40, 7]"});
    compare({"y = layout.slice{axes=[0], begin=[0], end=[9], stride=[2]}(p);", "real[~|5, 7]"});
    compare({"y = layout.slice{axes=[1], begin=[1], end=[9]}(v);", "real[~|40, 8]"});
}

TEST(EngineDynamic, Sums) {
    compare({"y = math.sum_reduce{axes=[0], squeeze=true}(p);", "real[7]"});
    compare({"y = math.sum_reduce{axes=[1], squeeze=true}(v);", "real[~|40]"});
    compare({"y = math.sum_reduce{axes=[0, 1], squeeze=true}(v);", "real[]"});
    compare({"y = math.max_reduce{axes=[0], squeeze=true}(v);", "real[50]", 2});
    compare({"y = math.prod_reduce{axes=[0], squeeze=false}(p);", "real[1, 7]"});
    compare({"y = math.cumsum{axis=0}(p);", "real[~|40, 7]"});
    compare({"y = linalg.matmul(p, w);", "real[~|40, 19]"});
    compare({"y = distances(p, q);", "real[~|40, ~|40]"});
    compare({"y = neighbours(p);", "real[~|40, 7]"});
    compare({"y = last_of(p);", "real[7]"});
    compare({"y = math.mean_reduce{axes=[0], squeeze=true}(p);", "real[7]"});
    compare({"y = nn.softmax{axes=[1]}(v);", "real[~|40, 50]"});
    compare({"y = nn.softmax{axes=[0]}(v);", "real[~|40, 50]"});
}

TEST(EngineDynamic, PartsOfTensors) {
    compare({"y = layout.concat{axis=0}([p, q, p]);", "real[~|120, 7]"});
    compare({"y = layout.concat{axis=1}([p, v]);", "real[~|40, 57]"});
    compare(
        {"z = layout.transpose(p);"
         "u = layout.transpose(q);"
         "y = layout.concat{axis=1}([z, u, z]);",
         "real[7, ~|120]"});
    compare(
        {"[l, r] = layout.split{axis=1, sizes=[20, 30]}(v); s = math.exp(l);"
         "y = layout.concat{axis=1}([r, s]);",
         "real[~|40, 50]"});
    compare({"y = layout.tile{axes=[0], repeats=[3]}(p);", "real[~|120, 7]"});
    compare({"y = layout.pad{axes=[0], padding=[2, 3]}(p);", "real[~|45, 7]"});
    compare({"y = layout.pad{axes=[0], padding=[2, 3], method='REPLICATE'}(p);",
             "real[~|45, 7]",
             2,
             true});
    compare({"y = layout.flatten(v);", "real[~|2000]"});
    compare({"f = layout.flatten(v); y = layout.reshape{shape=[-1, 25]}(f);",
             "real[~|80, 25]",
             2,
             true});
}

// Large enough for several items.
TEST(EngineDynamic, LargeOnes) {
    compare({"y = math.exp(v);", "real[~|1200, 50]", 2, false, 30});
    compare({"f = layout.flatten(v); y = math.mul(f, 2.0);", "real[~|60000]", 2, false, 30});
    compare({"y = math.sum_reduce{axes=[0], squeeze=true}(v);", "real[50]", 2, false, 30});
    compare({"y = linalg.matmul(p, w);", "real[~|1200, 19]", 2, false, 30});
    compare({"y = layout.concat{axis=0}([p, q]);", "real[~|2400, 7]", 2, false, 30});
    compare({"y = neighbours(v);", "real[~|1200, 50]", 2, false, 30});
}

TEST(EngineDynamic, TooLargeOnes) {
    // None of the rows, or too many of them.
    const auto own = load_text(text_of(
        {"f = layout.flatten(v); z = fourth(f); y = math.sum_reduce{squeeze=true}(z);", "real[]"}));
    ASSERT_TRUE(own);
    auto engine = Engine::create(*own, {.verify = true});
    ASSERT_TRUE(engine);
    NamedArrays inputs;
    ASSERT_TRUE(session::add_random_inputs(own->program(), 3, inputs));
    for (const int kept : {0, 40, 0}) {
        set_mask(inputs, "a", kept, 5);
        set_mask(inputs, "b", 0, 5);
        const auto ran = (*engine)->run(inputs);
        ASSERT_EQ(ran.has_value(), kept == 0);
        if (ran) continue;
        EXPECT_NE(ran.error().message.find("too large"), std::string::npos) << ran.error().message;
    }
}

TEST(EngineDynamic, BehindOneAnother) {
    compare(
        {"s = math.mul(p, 0.5); t = math.add(s, p); u = math.sum_reduce{axes=[0]}(t);"
         "y = math.sub(t, u);",
         "real[~|40, 7]"});
    // The interpreter reads a kernel's result and makes the input of the next kernel.
    compare({"s = math.mul(v, 0.5); h, at = algo.top_k{k=3, axis=1}(s); y = math.exp(h);",
             "real[~|40, 3]",
             3});
}

size_t count_kernels(const Model& model) {
    const auto own = load_text(text_of(model));
    const loop::Plan plan = loop::make_plan(own->program(), {}, {});
    return static_cast<size_t>(std::ranges::count_if(plan.steps, [](const loop::PlanStep& step) {
        return std::holds_alternative<loop::DynamicKernel>(step.kind);
    }));
}

// The count excludes the kernels that make p, q and v.
TEST(EngineDynamic, ElementWiseChainsAreOneKernel) {
    const Model chain = {
        "s = math.mul(p, 0.5); t = math.exp(s); r = nn.relu(t); y = math.sub(r, p);",
        "real[~|40, 7]"};
    EXPECT_EQ(count_kernels(chain), 3 + 1);
    compare(chain);
    compare(chain, true);
    // Two operations read a tensor; one moves into the other.
    const Model both = {"s = math.exp(p); t = math.mul(s, 2.0); y = math.sub(t, s);",
                        "real[~|40, 7]"};
    EXPECT_EQ(count_kernels(both), 3 + 1);
    compare(both);
    // A producer that two kernels read stays.
    const Model shared = {"s = math.exp(p); t = math.sum_reduce{axes=[0]}(s); y = math.sub(s, t);",
                          "real[~|40, 7]"};
    EXPECT_EQ(count_kernels(shared), 3 + 3);
    compare(shared);
    // Extents of several kinds, and operands of known extents.
    const Model pairs = {
        "s = math.exp(p); t = math.mul(q, 0.5); z = distances(s, t); y = math.sqrt(z);",
        "real[~|40, ~|40]"};
    EXPECT_EQ(count_kernels(pairs), 3 + 3);
    compare(pairs);
}

// Long chains become several kernels, each small enough to compile fast.
TEST(EngineDynamic, LongChainsAreCut) {
    std::string body = "t0 = math.mul(p, 0.5);";
    for (int i = 0; i < 600; ++i) body += fmt::format("t{} = math.add(t{}, 0.5);", i + 1, i);
    body += "y = math.abs(t600);";
    const Model chain = {body.c_str(), "real[~|40, 7]"};
    const size_t kernels = count_kernels(chain) - 3;
    EXPECT_GE(kernels, 3U);
    EXPECT_LE(kernels, 10U);
    compare(chain);
}

TEST(EngineDynamic, ProducersMoveIntoReductions) {
    const Model sum = {"s = math.mul(v, v); y = math.sum_reduce{axes=[1], squeeze=true}(s);",
                       "real[~|40]"};
    EXPECT_EQ(count_kernels(sum), 3 + 1);
    compare(sum);
    const Model all = {
        "f = layout.flatten(v); s = math.abs(f); y = math.sum_reduce{squeeze=true}(s);",
        "real[]",
        2,
        false,
        30};
    EXPECT_EQ(count_kernels(all), 3 + 2);  // flattening divides: its indices are not proved
    compare(all);
    // Each row is read for each column, so it is computed once.
    const Model product = {"s = math.exp(p); y = linalg.matmul(s, w);", "real[~|40, 19]"};
    EXPECT_EQ(count_kernels(product), 3 + 2);
    compare(product);
}

TEST(EngineDynamic, ReadersBecomeEpilogues) {
    const Model product = {"s = linalg.matmul(p, w); t = math.add(s, 1.0); y = nn.relu(t);",
                           "real[~|40, 19]"};
    EXPECT_EQ(count_kernels(product), 3 + 1);
    compare(product);
    compare(product, true);
    const Model mean = {"s = math.mean_reduce{axes=[0], squeeze=true}(v); y = math.exp(s);",
                        "real[50]"};
    compare(mean);
    const Model rows = {"s = math.sum_reduce{axes=[1]}(v); t = math.mul(s, s); y = math.sqrt(t);",
                        "real[~|40, 1]"};
    EXPECT_EQ(count_kernels(rows), 3 + 1);
    compare(rows);
}

// Numbers that may be negative are no variables: kernels read them from memory.
TEST(EngineDynamic, FusedKernelsAreToldAllNumbers) {
    const Model chain = {"s = shifted(p); t = math.exp(s); y = shifted(t);", "real[~|40, 7]"};
    EXPECT_EQ(count_kernels(chain), 3 + 1);
    compare(chain);
    const Model product = {"s = linalg.matmul(p, w); y = shifted(s);", "real[~|40, 19]"};
    EXPECT_EQ(count_kernels(product), 3 + 1);
    compare(product);
    const Model other = {
        "s = shifted(p); t = layout.concat{axis=0}([s, q]); u = shifted(t); y = math.neg(u);",
        "real[~|80, 7]"};
    compare(other);
}

// The assertions of fused producers are still checked.
TEST(EngineDynamic, FusedOperationsKeepTheirAssertions) {
    compare(
        {"f = layout.flatten(v); s = math.mul(f, 0.5); r = layout.reshape{shape=[-1, 25]}(s);"
         "y = math.exp(r);",
         "real[~|80, 25]",
         2,
         true});
    compare({"f = layout.flatten(v); r = layout.reshape{shape=[17, 50]}(f); y = math.exp(r);",
             "real[17, 50]",
             2,
             true});
}

// Static and run-time extents inside a branch, and outputs with the extents of the selected arm.
TEST(EngineDynamic, Branches) {
    compare({R"(
        some = math.sum_reduce{axes=[0], squeeze=true}(b);
        many = math.gt(some, 6);
        one = if many then {
            s = math.mul(p, 0.5);
            yield s;
        } else {
            s = math.add(q, q);
            t = layout.slice{axes=[0], begin=[0], end=[3]}(s);
            yield t;
        };
        y = math.exp(one);)",
             "real[~|40, 7]"});
    compare({R"(
        some = math.sum_reduce{axes=[0], squeeze=true}(b);
        many = math.gt(some, 6);
        one = if many then {
            s = layout.nonzero(p);
            yield s;
        } else {
            s = layout.nonzero(x);
            yield s;
        };
        y = math.add(one, 1);)",
             "int[2, ~|280]",
             4});
    compare({R"(
        some = math.sum_reduce{axes=[0], squeeze=true}(b);
        many = math.gt(some, 6);
        one = if many then {
            yield p;
        } else {
            yield x;
        };
        y = math.mul(one, 3.0);)",
             "real[~|40, 7]"});
}

// Extents that change in each iteration.
TEST(EngineDynamic, InsideOfLoops) {
    compare({R"(
        z = with h = w do..(4) {
            over = layout.nonzero(h);
            at = layout.cast<real>(over);
            s = math.sum_reduce{axes=[1], squeeze=true}(at);
            t = math.sum_reduce{axes=[0], squeeze=true}(s);
            u = math.mul(t, 0.0001);
            m = math.sub(h, u);
            next = nn.relu(m);
            yield next;
        };
        c = math.sum_reduce{axes=[0, 1], squeeze=true}(p);
        y = math.add(z, c);)",
             "real[7, 19]",
             3});
}

TEST(EngineDynamic, TheInterpretersBitsInStrict) {
    compare({"s = math.exp(v); y = math.mul(s, v);", "real[~|40, 50]"}, true);
    compare({"y = math.sum_reduce{axes=[0], squeeze=true}(p);", "real[7]"}, true);
    compare({"y = linalg.matmul(p, w);", "real[~|40, 19]"}, true);
}

// An index that leaves its tensor is an error with the interpreter's message, not a crash.
TEST(EngineDynamic, ReportsBadIndices) {
    const auto own = load_text(text_of({R"(
        four = layout.slice{axes=[0], begin=[0], end=[4]}(p);
        y = rows(four, in_b);)",
                                        "real[~|40, 7]"}));
    ASSERT_TRUE(own);
    auto engine = Engine::create(*own, {.verify = true});
    ASSERT_TRUE(engine);
    NamedArrays inputs;
    ASSERT_TRUE(session::add_random_inputs(own->program(), 3, inputs));
    for (const auto& [last, good] : {std::pair{3, true}, {4, false}, {39, false}, {2, true}}) {
        set_mask(inputs, "a", 10, 5);
        set_mask(inputs, "b", 0, 6);
        inputs.at("b")[0].integers[static_cast<size_t>(last)] = 1;
        const auto ran = (*engine)->run(inputs);
        ASSERT_EQ(ran.has_value(), good) << last;
        if (good) continue;
        EXPECT_NE(ran.error().message.find("outside"), std::string::npos) << ran.error().message;
    }
}

}  // namespace
}  // namespace lemma
