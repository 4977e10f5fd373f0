// SPDX-License-Identifier: Apache-2.0
// Loops and branches in compiled code against the interpreter: carried values, scans, collected
// results, run-time counts, and nested graphs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/engine.h"
#include "session/tensors.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using engine::Engine;
using interpret::Array;
using interpret::NamedArrays;
using testing_support::load_text;
using testing_support::run_interpreter;
using testing_support::small_weight;

void expect_equal(const NamedArrays& got, const NamedArrays& want, const std::string& text) {
    for (const auto& [name, items] : want) {
        ASSERT_EQ(got.at(name).size(), items.size()) << name << text;
        for (size_t k = 0; k < items.size(); ++k) {
            const Array& a = got.at(name)[k];
            const Array& b = items[k];
            ASSERT_EQ(a.shape, b.shape) << name << text;
            EXPECT_EQ(a.integers, b.integers) << name << text;
            for (size_t i = 0; i < b.reals.size(); ++i) {
                ASSERT_NEAR(a.reals[i], b.reals[i], 1e-5 * (1 + std::fabs(b.reals[i])))
                    << name << "." << k << "[" << i << "]" << text;
            }
        }
    }
}

// Three runs with changing inputs. `interpreted`: the number of steps left to the interpreter.
void compare(const std::string& text,
             std::function<void(NamedArrays&, int)> change = {},
             size_t interpreted = 0) {
    const auto oracle = load_text(text, small_weight);
    const auto own = load_text(text, small_weight);
    ASSERT_TRUE(oracle && own);
    for (const bool fuse : {true, false}) {
        auto engine = Engine::create(*own, {.verify = true, .threads = 2, .fuse = fuse});
        ASSERT_TRUE(engine) << engine.error().message;
        for (int run = 0; run < 3; ++run) {
            NamedArrays inputs;
            ASSERT_TRUE(session::add_random_inputs(oracle->program(), 3 + run, inputs));
            if (change) change(inputs, run);
            const auto want = run_interpreter(*oracle, inputs);
            ASSERT_TRUE(want) << want.error().message << text;
            // The steps alone, because the interpreter would take over after a failure.
            const auto prepared = (*engine)->prepare(inputs);
            ASSERT_TRUE(prepared) << prepared.error().message << text;
            const auto ran = (*engine)->run_again();
            ASSERT_TRUE(ran) << ran.error().message << text;
            const auto got = (*engine)->run(inputs);
            ASSERT_TRUE(got) << got.error().message << text;
            expect_equal(*got, *want, "\nrun " + std::to_string(run) + "\n" + text);
        }
        size_t found = 0;
        for (const loop::PlanStep& step : (*engine)->plan().steps)
            found += step.is<loop::InterpretedStep>();
        EXPECT_EQ(found, interpreted) << text;
    }
}

std::string graph(const std::string& body) {
    return "import layout; import linalg; import math; import nn;\n" + body;
}

TEST(EngineControl, RecurrentLayers) {
    for (const auto& [steps, batch, inputs, units] :
         {std::array{1, 1, 3, 2}, {7, 1, 16, 24}, {5, 3, 9, 17}, {12, 2, 64, 48}}) {
        compare(graph(fmt::format(R"(
graph G {{
    @input {{ x: real[{0}, {1}, {2}]; }}
    @output {{ y: real[~|{0}, {1}, {3}]; h: real[{1}, {3}]; c: real[{1}, {3}]; }}
    @variable {{ w: real[{4}, {2}]; r: real[{4}, {3}]; b: real[{4}]; h0: real[{1}, {3}]; c0: real[{1}, {3}]; }}
    @compose {{ y, h, c = nn.lstm_loop(x, w, r, b, h0, c0); }}
}})",
                                  steps,
                                  batch,
                                  inputs,
                                  units,
                                  4 * units)));
    }
}

// Each count from none to all, given by an input.
TEST(EngineControl, CountsThatInputsTell) {
    compare(graph(R"(
graph G {
    @input { a: real[9, 9]; n: int[]; }
    @output { y: real[9, 9]; }
    @compose {
        start = layout.uniform{shape=[9, 9]}(0.5);
        y = with p = start do..(n) linalg.matmul(p, a);
    }
})"),
            [](NamedArrays& inputs, int run) { inputs["n"][0].integers[0] = run * 2 - 1; });
}

TEST(EngineControl, Conditions) {
    compare(graph(R"(
graph G {
    @input { x: real[20]; }
    @output { y: real[20]; z: real[20]; n: int[]; }
    @compose {
        y, n, ~ = with s = x, count = 0, moving = true while moving do..(50) {
            half = math.mul(s, 0.5);
            next = math.add(count, 1);
            size = math.abs(half);
            largest = math.max_reduce{squeeze=true}(size);
            more = math.gt(largest, 0.01);
            yield half, next, more;
        };
        z = with s = x do {
            t = math.mul(s, 0.7);
            yield t;
        } while {
            size = math.abs(s);
            largest = math.max_reduce{squeeze=true}(size);
            more = math.gt(largest, 0.1);
            yield more;
        };
    }
})"));
}

// Values that pass unchanged, that are exchanged, that come from outside the loop, and that are
// returned twice.
TEST(EngineControl, PassingOfValues) {
    compare(graph(R"(
graph G {
    @input { x: real[5]; y: real[5]; z: real[5]; n: int[]; }
    @output { a: real[5]; b: real[5]; c: real[5]; d: real[5]; e: real[5]; }
    @compose {
        a, b, c, d, e = with p = x, q = y, r = z, s = x, t = y do..(n) {
            u = math.add(p, q);
            yield q, p, r, u, u;
        };
    }
})"),
            [](NamedArrays& inputs, int run) { inputs["n"][0].integers[0] = run + 1; });
}

TEST(EngineControl, Scans) {
    compare(graph(R"(
graph G {
    @input { x: real[6, 4]; y: real[6, 4]; z: real[4]; }
    @output { sums: real[6, 4]; befores: real[6, 4]; same: real[6, 4]; last: real[4]; }
    @compose {
        xs..(6) = layout.unstack{axis=0}(x);
        ys..(6) = layout.unstack{axis=0}(y);
        last, s..(6), b..(6), c..(6) = with p = z for v : xs, w : ys do..(i ->) {
            m = math.mul(v, w);
            q = math.add(m, p);
            yield q, q, p, z;
        };
        sums = layout.stack{axis=0}(s);
        befores = layout.stack{axis=0}(b);
        same = layout.stack{axis=0}(c);
    }
})"));
}

// Inputs as items and outputs as results: they are not adjacent in memory.
TEST(EngineControl, PacksOfTensorsThatLieApart) {
    compare(graph(R"(
operator step {
    @input { x: real[n]; i: int[]; }
    @output { y: real[n]; }
    @lower { y[j,] = x[j,] * real(i[]) + 1.0, j < n; }
}
operator all {
    @input { xs: real[n]..(k); }
    @output { ys: real[n]..(k); }
    @compose { ys..(k) = for x : xs do..(i ->) step(x, i); }
}
graph G {
    @input { a: real[7]; b: real[7]; c: real[7]; }
    @output { p: real[7]; q: real[7]; r: real[7]; s: real[14]; }
    @compose {
        d = math.exp(b);
        [p, q, r] = all([a, d, c]);
        s = layout.concat{axis=0}([r, p]);
    }
})"));
}

TEST(EngineControl, LoopsInsideOfLoops) {
    compare(graph(R"(
graph G {
    @input { x: real[8]; w: real[8, 8]; n: int[]; }
    @output { y: real[8]; total: real[8]; }
    @compose {
        row = layout.unsqueeze{axes=[0]}(x);
        last, sum = with p = row, s = row do..(n) {
            scaled = math.mul(w, 0.25);
            inner = with q = p do..(3) {
                a = linalg.matmul(q, scaled);
                b = math.add(a, s);
                yield b;
            };
            t = math.add(inner, s);
            halved = math.mul(t, 0.5);
            yield inner, halved;
        };
        y = layout.squeeze{axes=[0]}(last);
        total = layout.squeeze{axes=[0]}(sum);
    }
})"),
            [](NamedArrays& inputs, int run) { inputs["n"][0].integers[0] = 2 * run; });
}

TEST(EngineControl, Branches) {
    for (const int limit : {-100, 0, 100}) {
        compare(graph(fmt::format(R"(
graph G {{
    @input {{ x: real[3, 10]; w: real[10, 10]; }}
    @output {{ y: real[3, 10]; z: real[3, 10]; both: real[3, 10]; }}
    @compose {{
        sum = math.sum_reduce{{squeeze=true}}(x);
        high = math.gt(sum, {0}.0);
        y, z = if high then {{
            p = linalg.matmul(x, w);
            q = nn.relu(p);
            yield q, x;
        }} else {{
            p = math.neg(x);
            yield p, p;
        }};
        both = math.add(y, z);
    }}
}})",
                                  limit)));
    }
}

TEST(EngineControl, BranchesInsideOfLoops) {
    compare(graph(R"(
graph G {
    @input { x: real[12]; limit: real[]; }
    @output { y: real[12]; all: real[5, 12]; }
    @compose {
        y, steps..(5) = with p = x do..(5) {
            size = math.sum_reduce{squeeze=true}(p);
            large = math.gt(size, limit);
            next = if large then {
                h = math.mul(p, 0.5);
                yield h;
            } else {
                a = math.abs(p);
                h = math.mul(a, 3.0);
                yield h;
            };
            yield next, next;
        };
        all = layout.stack{axis=0}(steps);
    }
})"));
}

// The number of tiled sums in each region; the first region is outside all loops.
std::vector<size_t> tiled_sums(const std::string& text) {
    const auto model = load_text(text, small_weight);
    if (!model) return {SIZE_MAX};
    const loop::Plan plan = loop::make_plan(model->program(), {}, {});
    std::vector<size_t> found;
    for (const loop::Region& region : plan.regions) {
        found.push_back(0);
        for (const size_t step : region) {
            const loop::ScheduledKernel* const kernel = plan.steps[step].kernel();
            found.back() += kernel && kernel->function.name == "contraction";
        }
    }
    return found;
}

// Sums of items and weights alone are computed for all iterations at once.
TEST(EngineControl, SumsOfItems) {
    const std::string recurrent = graph(R"(
graph G {
    @input { x: real[9, 3, 32]; n: int[3]; }
    @output { y: real[~|9, 3, 24]; h: real[3, 24]; u: real[~|9, 3, 24]; }
    @variable { w: real[96, 32]; r: real[96, 24]; b: real[96]; h0: real[3, 24]; c0: real[3, 24];
                v: real[72, 32]; s: real[72, 24]; d: real[72]; }
    @compose {
        y, h, c = nn.lstm(x, w, r, b, h0, c0, n);
        u, g = nn.gru{reset_after = false}(x, v, s, d, ~, h0);
    }
})");
    const auto change = [](NamedArrays& inputs, int run) {
        inputs["n"][0].integers = {run, 9, 4 * run};
    };
    compare(recurrent, change);  // `y` has a run-time length
    EXPECT_EQ(tiled_sums(recurrent)[0], 2U);
    // Both factors are items, the weights are an input, and the result is also a result of the
    // loop.
    const std::string pairs = graph(R"(
graph G {
    @input { x: real[6, 8, 32]; y: real[6, 32, 24]; w: real[32, 24]; }
    @output { all: real[6, 8, 24]; last: real[8, 24]; }
    @compose {
        xs..(6) = layout.unstack{axis=0}(x);
        ys..(6) = layout.unstack{axis=0}(y);
        start = layout.uniform{shape=[8, 24]}(0.5);
        last, all_..(6) = with p = start for a : xs, b : ys do {
            m = linalg.matmul(a, b);
            k = linalg.matmul(a, w);
            q = math.add(m, p);
            t = math.tanh(q);
            o = math.mul(k, t);
            yield t, o;
        };
        all = layout.stack{axis=0}(all_);
    }
})");
    compare(pairs);
    EXPECT_EQ(tiled_sums(pairs), (std::vector<size_t>{2, 0}));
}

// Items of items: the sums of the inner loop are computed in the outer loop.
TEST(EngineControl, SumsOfItemsInsideOfLoops) {
    const std::string text = graph(R"(
graph G {
    @input { x: real[3, 6, 4, 32]; }
    @output { y: real[4, 24]; }
    @variable { w: real[24, 32]; }
    @compose {
        xs..(3) = layout.unstack{axis=0}(x);
        start = layout.uniform{shape=[4, 24]}(0.5);
        y = with p = start for block : xs do {
            rows..(6) = layout.unstack{axis=0}(block);
            inner = with q = p for row : rows do {
                a = nn.linear(row, w);
                b = math.add(a, q);
                c = math.tanh(b);
                yield c;
            };
            yield inner;
        };
    }
})");
    compare(text);
    EXPECT_EQ(tiled_sums(text), (std::vector<size_t>{0, 1, 0}));
}

// Iterations that a condition skips are not computed, and items that are not adjacent stay in
// place.
TEST(EngineControl, SumsOfItemsThatStay) {
    const std::string text = graph(R"(
operator all {
    @input { xs: real[m, n]..(k); w: real[n, n]; }
    @output { y: real[m, n]; }
    @compose {
        start = layout.uniform{shape=[m, n]}(0.5);
        y = with p = start for x : xs do {
            a = linalg.matmul(x, w);
            b = math.add(a, p);
            yield b;
        };
    }
}
graph G {
    @input { x: real[6, 8, 32]; u: real[8, 32]; v: real[8, 32]; w: real[32, 32]; }
    @output { y: real[8, 32]; z: real[8, 32]; }
    @compose {
        xs..(6) = layout.unstack{axis=0}(x);
        start = layout.uniform{shape=[8, 32]}(0.5);
        y, more = with p = start, going = true for a : xs while going do {
            k = linalg.matmul(a, w);
            q = math.add(k, p);
            sum = math.sum_reduce{squeeze=true}(q);
            small = math.lt(sum, 1e9);
            yield q, small;
        };
        d = math.exp(v);
        z = all([u, d, u], w);
    }
})");
    compare(text);
    EXPECT_EQ(tiled_sums(text)[0], 0U);
}

// Loop-invariant work is done before the loop, even if the loop has no iterations.
TEST(EngineControl, WorkThatEveryStepWouldRepeat) {
    compare(graph(R"(
graph G {
    @input { x: real[4, 64]; w: real[64, 64]; n: int[]; }
    @output { y: real[4, 64]; }
    @variable { v: real[64, 64]; }
    @compose {
        y = with p = x do..(n) {
            u = linalg.matmul(w, v);
            t = math.mul(u, 0.1);
            a = linalg.matmul(p, t);
            b = math.tanh(a);
            yield b;
        };
    }
})"),
            [](NamedArrays& inputs, int run) { inputs["n"][0].integers[0] = run * 3; });
}

// A loop-invariant part of each iteration's result is computed before the loop.
TEST(EngineControl, PartsThatEveryStepWouldRepeat) {
    compare(graph(R"(
graph G {
    @input { x: real[2, 5]; a: real[2, 5]; w: real[5, 5]; }
    @output { y: real[2, 5]; all: real[3, 4, 5]; }
    @compose {
        y, ys..(3) = with p = x do..(3) {
            same = linalg.matmul(a, w);
            next = math.mul(p, 0.5);
            both = layout.concat{axis=0}([same, next]);
            yield next, both;
        };
        all = layout.stack{axis=0}(ys);
    }
})"));
}

// An operation without a formula in a body.
TEST(EngineControl, InterpretsInsideOfLoops) {
    compare("import algo;" + graph(R"(
graph G {
    @input { x: real[3, 8]; }
    @output { y: real[3, 8]; s: real[3, 8]; all: real[4, 3, 8]; }
    @compose {
        y, s, ys..(4) = with p = x, q = x do..(4) {
            top, at = algo.top_k{k=8, axis=1}(p);
            m = math.mul(top, 0.9);
            t = math.add(m, q);
            u = math.mul(t, 0.5);
            yield u, top, m;
        };
        all = layout.stack{axis=0}(ys);
    }
})"),
            {},
            1);
}

// Assertions on extents that the inputs determine are checked for each set of inputs.
TEST(EngineControl, ChecksExtents) {
    const auto state = load_text(R"(
operator both {
    @input { x: real[n]; y: real[m]; }
    @output { z: real[n]; }
    @assert { n <= m: "'x' must not be longer than 'y'"; }
    @lower { z[i,] = x[i,] * 2.0, i < n; }
}
graph G {
    @input { x: real[~|100]; y: real[~|200]; }
    @output { z: real[~|100]; }
    @compose { z = both(x, y); }
})");
    ASSERT_TRUE(state);
    auto engine = Engine::create(*state, {.verify = true});
    ASSERT_TRUE(engine);
    const auto inputs = [](int64_t n, int64_t m) {
        return NamedArrays{{"x", {*Array::zeros(tensor::DType::F32, {n})}},
                           {"y", {*Array::zeros(tensor::DType::F32, {m})}}};
    };
    // More sets of extents than the engine keeps plans for.
    for (int64_t n = 1; n < 8; ++n) {
        const auto good = (*engine)->run(inputs(n, n + 1));
        ASSERT_TRUE(good) << good.error().message;
        EXPECT_EQ(good->at("z")[0].shape, tensor::Shape({n}));
        const auto bad = (*engine)->run(inputs(n + 1, n));
        ASSERT_FALSE(bad);
        const auto message =
            fmt::format("'x' must not be longer than 'y' (~ = {}, ~ = {})", n + 1, n);
        EXPECT_EQ(bad.error().message, message);
        EXPECT_FALSE(run_interpreter(*state, inputs(n + 1, n)));
        EXPECT_NE(state->failed(), nullptr);
    }
}

}  // namespace
}  // namespace lemma
