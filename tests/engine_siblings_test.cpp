// SPDX-License-Identifier: Apache-2.0
// Horizontal fusion of products with a common operand: the same bits as separate products, in fewer
// kernels; and the cases in which products must stay separate.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

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

using Change = std::function<void(NamedArrays&)>;

struct Ran {
    NamedArrays outputs;
    size_t products = 0;  // tiled kernels, also on transformed tiles
};

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kAlways = 0;

Ran run(const std::string& text, const NamedArrays& inputs, double least_gain, int threads) {
    Ran ran;
    const auto model = load_text(text, small_weight);
    if (!model) return ran;
    auto engine =
        Engine::create(*model, {.verify = true, .threads = threads, .least_gain = least_gain});
    EXPECT_TRUE(engine) << engine.error().message;
    if (!engine) return ran;
    for (int time = 0; time < 2; ++time) {
        auto outputs = (*engine)->run(inputs);
        EXPECT_TRUE(outputs) << outputs.error().message;
        if (!outputs) return ran;
        ran.outputs = std::move(*outputs);
    }
    for (const loop::PlanStep& step : (*engine)->plan().steps) {
        const std::string schedule = step.kernel() ? step.kernel()->schedule : "";
        ran.products += schedule.starts_with("tile") || schedule.starts_with("F(");
    }
    return ran;
}

void expect_same_bits(const NamedArrays& got, const NamedArrays& want, const std::string& text) {
    for (const auto& [name, items] : want) {
        for (size_t k = 0; k < items.size(); ++k) {
            const Array& a = got.at(name)[k];
            const Array& b = items[k];
            ASSERT_EQ(a.reals.size(), b.reals.size());
            for (size_t i = 0; i < b.reals.size(); ++i) {
                if (std::isnan(a.reals[i]) && std::isnan(b.reals[i])) continue;
                ASSERT_EQ(std::bit_cast<uint64_t>(a.reals[i]), std::bit_cast<uint64_t>(b.reals[i]))
                    << name << "[" << i << "]: " << a.reals[i] << ", " << b.reals[i] << text;
            }
        }
    }
}

void expect_near(const NamedArrays& got, const NamedArrays& want, const std::string& text) {
    for (const auto& [name, items] : want) {
        for (size_t k = 0; k < items.size(); ++k) {
            const Array& a = got.at(name)[k];
            const Array& b = items[k];
            ASSERT_EQ(a.shape, b.shape);
            ASSERT_EQ(a.integers, b.integers) << name << text;
            for (size_t i = 0; i < b.reals.size(); ++i) {
                if (std::isnan(b.reals[i])) {
                    ASSERT_TRUE(std::isnan(a.reals[i])) << name << "[" << i << "]" << text;
                } else if (std::isinf(b.reals[i])) {
                    ASSERT_EQ(a.reals[i], b.reals[i]) << name << "[" << i << "]" << text;
                } else {
                    ASSERT_NEAR(a.reals[i], b.reals[i], 1e-5 * (1 + std::fabs(b.reals[i])))
                        << name << "[" << i << "]" << text;
                }
            }
        }
    }
}

// Checks the number of products without and with the pass, and that the pass changes no bit.
void expect_products(const std::string& body,
                     size_t apart,
                     size_t merged,
                     const Change& change = {},
                     double least_gain = kAlways) {
    const std::string text = "import layout; import linalg; import math; import nn;\n" + body;
    const auto oracle = load_text(text, small_weight);
    ASSERT_TRUE(oracle);
    NamedArrays inputs;
    ASSERT_TRUE(session::add_random_inputs(oracle->program(), 3, inputs));
    if (change) change(inputs);
    const auto want = run_interpreter(*oracle, inputs);
    ASSERT_TRUE(want) << want.error().message;
    const Ran before = run(text, inputs, kNever, 1);
    EXPECT_EQ(before.products, apart) << text;
    expect_near(before.outputs, *want, text);
    for (const int threads : {1, 2}) {
        const Ran after = run(text, inputs, least_gain, threads);
        EXPECT_EQ(after.products, merged) << text;
        expect_same_bits(after.outputs, before.outputs, text);
    }
}
void expect_apart(const std::string& body, size_t products) {
    expect_products(body, products, products);
}

// ---- Merged products ----------------------------------------------------------------------------

// Heads are slices of slices. The values come after the product of queries and keys, and only the
// queries are scaled.
TEST(Siblings, Attention) {
    for (const auto& [rows, width, heads] :
         {std::array{24, 64, 4}, {20, 48, 3}, {32, 40, 2}, {17, 96, 4}}) {
        expect_products(fmt::format(R"(
graph G {{
    @input {{ x: real[{0}, {1}]; }}
    @output {{ y: real[{2}, {0}, {3}]; }}
    @variable {{ wq: real[{1}, {1}]; wk: real[{1}, {1}]; wv: real[{1}, {1}];
                 bq: real[{1}]; bk: real[{1}]; bv: real[{1}]; }}
    @compose {{
        q1 = nn.linear(x, wq, bq);
        q2 = math.mul(q1, 0.25);
        q3 = layout.unflatten{{axis=1, shape=[{2}, {3}]}}(q2);
        q = layout.transpose{{perm=[1, 0, 2]}}(q3);
        k1 = nn.linear(x, wk, bk);
        k2 = layout.unflatten{{axis=1, shape=[{2}, {3}]}}(k1);
        k = layout.transpose{{perm=[1, 2, 0]}}(k2);
        s = linalg.matmul(q, k);
        p = nn.softmax{{axes=[2]}}(s);
        v1 = nn.linear(x, wv, bv);
        v2 = layout.unflatten{{axis=1, shape=[{2}, {3}]}}(v1);
        v = layout.transpose{{perm=[1, 0, 2]}}(v2);
        y = linalg.matmul(p, v);
    }}
}})",
                                    rows,
                                    width,
                                    heads,
                                    width / heads),
                        5,
                        3);
    }
}

// Different numbers of channels, none of which fills vectors; one product has no bias.
TEST(Siblings, FewChannels) {
    for (const int rows : {1, 5, 40}) {
        expect_products(fmt::format(R"(
graph G {{
    @input {{ x: real[{0}, 600]; }}
    @output {{ y: real[{0}, 600]; z: real[{0}, 400]; t: real[{0}, 300]; }}
    @variable {{ a: real[9, 600]; ab: real[9]; b: real[24, 600]; c: real[8, 600]; cb: real[8];
                 d: real[600, 9]; e: real[400, 24]; f: real[300, 8]; }}
    @compose {{
        k = nn.linear(x, a, ab);
        l = nn.linear(x, b);
        m = nn.linear(x, c, cb);
        y1 = nn.relu(k);
        y = nn.linear(y1, d);
        z1 = nn.relu(l);
        z = nn.linear(z1, e);
        t1 = nn.relu(m);
        t = nn.linear(t1, f);
    }}
}})",
                                    rows),
                        rows == 1 ? 5 : 6,
                        rows == 1 ? 3 : 4);
    }
}

// Windows reach over the edges of a slice of channels, by one and by two.
TEST(Siblings, ReducedChannels) {
    for (const auto& [batch, size] : {std::array{1, 9}, {2, 14}}) {
        expect_products(fmt::format(R"(
graph G {{
    @input {{ x: real[{0}, 48, {1}, {1}]; }}
    @output {{ y: real[{0}, 20, {1}, {1}]; z: real[{0}, 12, {1}, {1}]; }}
    @variable {{ a: real[24, 48, 1, 1]; b: real[9, 48, 1, 1]; c: real[20, 24, 3, 3]; d: real[12, 9, 5, 5];
                 m: real[24]; v: real[24, 1, 1]; s: real[24]; o: real[24]; n: real[9]; }}
    @compose {{
        p = nn.conv{{stride = [1, 1], dilation = [1, 1], padding = [0, 0, 0, 0], groups = 1}}(x, a, m);
        q = nn.conv{{stride = [1, 1], dilation = [1, 1], padding = [0, 0, 0, 0], groups = 1}}(x, b, n);
        f1 = math.mul(p, v);
        f = nn.relu(f1);
        g = nn.relu(q);
        y = nn.conv{{stride = [1, 1], dilation = [1, 1], padding = [1, 1, 1, 1], groups = 1}}(f, c);
        z = nn.conv{{stride = [1, 1], dilation = [1, 1], padding = [2, 2, 2, 2], groups = 1}}(g, d);
    }}
}})",
                                    batch,
                                    size),
                        4,
                        3);
    }
}

// A shift of one sibling must not change the others: neither the sign of a zero nor a nan.
TEST(Siblings, NeutralShiftsAndScales) {
    const auto change = [](NamedArrays& inputs) {
        std::vector<double>& x = inputs["x"][0].reals;
        for (size_t i = 0; i < 64; ++i) x[i] = -0.0;
        x[64 + 3] = std::numeric_limits<double>::infinity();
        x[128 + 5] = std::numeric_limits<double>::quiet_NaN();
        for (size_t i = 192; i < 256; ++i) x[i] = 1e-42;
    };
    expect_products(R"(
graph G {
    @input { x: real[8, 64]; }
    @output { y: real[8, 32]; z: real[8, 32]; }
    @variable { a: real[32, 64]; b: real[32, 64]; c: real[32, 64]; s: real[32]; o: real[32]; }
    @compose {
        k = nn.linear(x, a);
        l2 = nn.linear(x, b);
        l1 = math.div(l2, 3.0);
        l = math.sub(l1, o);
        m2 = nn.linear(x, c);
        m1 = math.add(m2, o);
        m = math.mul(m1, s);
        n1 = nn.softmax{axes=[1]}(l);
        n2 = nn.softmax{axes=[1]}(m);
        n = math.mul(n1, n2);
        y1 = nn.softmax{axes=[1]}(k);
        y = math.add(y1, n);
        z1 = math.neg(k);
        z = nn.softmax{axes=[0]}(z1);
    }
})",
                    3,
                    1,
                    change);
}

// Weights that are computed once, after the first product.
TEST(Siblings, WeightsThatAreMade) {
    expect_products(R"(
graph G {
    @input { x: real[12, 64]; }
    @output { y: real[12, 40]; }
    @variable { a: real[32, 64]; b: real[32, 64]; c: real[40, 32]; d: real[40, 32]; }
    @compose {
        k1 = nn.linear(x, a);
        k = nn.relu(k1);
        z = nn.linear(k, c);
        e = math.exp(b);
        f1 = math.sum_reduce{axes=[0], squeeze=false}(e);
        f = math.div(e, f1);
        l1 = nn.linear(x, f);
        l = nn.relu(l1);
        t = nn.linear(l, d);
        y = math.mul(z, t);
    }
})",
                    4,
                    3);
}

// Products of one sibling's result are siblings in turn: they read a slice.
TEST(Siblings, Generations) {
    expect_products(R"(
graph G {
    @input { x: real[12, 64]; }
    @output { y: real[12, 40]; }
    @variable { a: real[32, 64]; b: real[24, 64]; c: real[40, 32]; d: real[40, 32]; e: real[40, 24];
                f: real[40, 40]; g: real[40, 40]; h: real[40, 40]; }
    @compose {
        k1 = nn.linear(x, a);
        k = nn.relu(k1);
        l1 = nn.linear(x, b);
        l = nn.relu(l1);
        m1 = nn.linear(k, c);
        m = nn.relu(m1);
        n1 = nn.linear(k, d);
        n = nn.relu(n1);
        o1 = nn.linear(l, e);
        o = nn.relu(o1);
        p = nn.linear(m, f);
        q = nn.linear(n, g);
        r = nn.linear(o, h);
        y2 = nn.softmax{axes=[1]}(p);
        y3 = nn.softmax{axes=[1]}(q);
        y1 = math.add(y2, y3);
        y = math.add(y1, r);
    }
})",
                    8,
                    6);
}

// The gates of a recurrent layer, each with its own weights, in the body of a loop.
TEST(Siblings, Gates) {
    expect_products(R"(
graph G {
    @input { x: real[6, 2, 64]; h0: real[2, 64]; }
    @output { h: real[2, 64]; }
    @variable { a: real[64, 64]; b: real[64, 64]; c: real[64, 64]; d: real[64, 64]; }
    @compose {
        xs..(6) = layout.unstack{axis=0}(x);
        h = with p = h0 for v : xs do {
            r1 = nn.linear(p, a);
            r = nn.sigmoid(r1);
            u1 = nn.linear(p, b);
            u = nn.sigmoid(u1);
            rs = nn.linear(r, c);
            us = nn.linear(u, d);
            next2 = math.mul(rs, us);
            next1 = math.tanh(next2);
            next = math.add(next1, v);
            yield next;
        };
    }
})",
                    4,
                    3);
}

// Vectors that are not full, on any processor; and full ones.
TEST(Siblings, MergedWhereItPays) {
    const auto model = [](int lanes) {
        return fmt::format(R"(
graph G {{
    @input {{ x: real[16, 64]; }}
    @output {{ y: real[16, 40]; z: real[16, 40]; }}
    @variable {{ a: real[{0}, 64]; b: real[{0}, 64]; c: real[40, {0}]; d: real[40, {0}]; }}
    @compose {{
        k = nn.linear(x, a);
        l = nn.linear(x, b);
        y = nn.linear(k, c);
        z = nn.linear(l, d);
    }}
}})",
                           lanes);
    };
    expect_products(model(9), 4, 3, {}, loop::kLeastGain);
    expect_products(model(64), 4, 4, {}, loop::kLeastGain);
    expect_products(model(64), 4, 3);
}

// Narrow products beside wide ones, such as low-rank adapters.
TEST(Siblings, NarrowOnesOfAFamily) {
    const std::string text = R"(
graph G {
    @input { x: real[16, 64]; }
    @output { y: real[16, 640]; z: real[16, 640]; }
    @variable { a: real[640, 64]; b: real[640, 64]; c: real[9, 64]; d: real[9, 64]; e: real[640, 9];
                f: real[640, 9]; }
    @compose {
        k = nn.linear(x, a);
        l = nn.linear(x, c);
        m = nn.linear(l, e);
        s = math.add(k, m);
        y = nn.softmax{axes=[1]}(s);
        o = nn.linear(x, b);
        p = nn.linear(x, d);
        q = nn.linear(p, f);
        t = math.add(o, q);
        z = nn.softmax{axes=[1]}(t);
    }
})";
    expect_products(text, 6, 5, {}, loop::kLeastGain);
}

// Weights that change with each run, but not with an iteration.
TEST(Siblings, WeightsFromOutside) {
    expect_products(R"(
graph G {
    @input { x: real[6, 8, 64]; h0: real[8, 64]; t: real[1]; }
    @output { h: real[8, 64]; }
    @variable { a: real[64, 64]; b: real[64, 64]; c: real[64, 64]; d: real[64, 64]; }
    @compose {
        xs..(6) = layout.unstack{axis=0}(x);
        wa = math.mul(a, t);
        wb = math.sub(b, t);
        h = with p = h0 for v : xs do {
            r1 = nn.linear(p, wa);
            r = nn.relu(r1);
            u1 = nn.linear(p, wb);
            u = nn.relu(u1);
            rs = nn.linear(r, c);
            us = nn.linear(u, d);
            m = math.mul(rs, us);
            n = math.tanh(m);
            next = math.add(n, v);
            yield next;
        };
    }
})",
                    4,
                    3);
}

// ---- Separate products --------------------------------------------------------------------------

TEST(Siblings, ResultsStayWhole) {
    expect_apart(R"(
graph G {
    @input { x: real[12, 64]; }
    @output { k: real[12, 32]; l: real[12, 32]; }
    @variable { a: real[32, 64]; b: real[32, 64]; }
    @compose { k = nn.linear(x, a); l = nn.linear(x, b); }
})",
                 2);
}

TEST(Siblings, ConcatenationsAreWrittenInPlace) {
    expect_apart(R"(
graph G {
    @input { x: real[1, 64, 6, 6]; }
    @output { y: real[1, 20, 6, 6]; }
    @variable { a: real[32, 64, 1, 1]; b: real[16, 64, 1, 1]; c: real[20, 48, 3, 3]; }
    @compose {
        k1 = nn.conv{stride = [1, 1], dilation = [1, 1], padding = [0, 0, 0, 0], groups = 1}(x, a);
        k = nn.relu(k1);
        l1 = nn.conv{stride = [1, 1], dilation = [1, 1], padding = [0, 0, 0, 0], groups = 1}(x, b);
        l = nn.relu(l1);
        m = layout.concat{axis=1}([k, l]);
        y = nn.conv{stride = [1, 1], dilation = [1, 1], padding = [1, 1, 1, 1], groups = 1}(m, c);
    }
})",
                 3);
}

// Pooling would not know that channels are innermost.
TEST(Siblings, PoolsReadWholeTensors) {
    expect_apart(R"(
graph G {
    @input { x: real[1, 64, 6, 6]; }
    @output { y: real[1, 32, 6, 6]; z: real[1, 16, 6, 6]; }
    @variable { a: real[32, 64, 1, 1]; b: real[16, 64, 1, 1]; }
    @compose {
        k = nn.conv{stride = [1, 1], dilation = [1, 1], padding = [0, 0, 0, 0], groups = 1}(x, a);
        l = nn.conv{stride = [1, 1], dilation = [1, 1], padding = [0, 0, 0, 0], groups = 1}(x, b);
        y = nn.max_pool{axes = [2, 3], size = [3, 3], stride = [1, 1], padding = [1, 1, 1, 1]}(k);
        z = nn.max_pool{axes = [2, 3], size = [3, 3], stride = [1, 1], padding = [1, 1, 1, 1]}(l);
    }
})",
                 2);
}

// The products `p` and `q` become `k` and `l`, which are operands of products.
std::string pair(const std::string& body, const std::string& inputs = "") {
    return fmt::format(R"(
graph G {{
    @input {{ x: real[12, 64]; {1} }}
    @output {{ y: real[12, 40]; z: real[12, 40]; }}
    @variable {{ a: real[32, 64]; b: real[32, 64]; c: real[40, 32]; d: real[40, 32]; o: real[12, 1]; }}
    @compose {{
{0}
        y = nn.linear(k, c);
        z = nn.linear(l, d);
    }}
}})",
                       body,
                       inputs);
}

TEST(Siblings, OnlyWhatIsAlike) {
    // The form that the others differ from.
    expect_products(pair(R"(
        p = nn.linear(x, a); k = nn.relu(p);
        q = nn.linear(x, b); l = nn.relu(q);)"),
                    4,
                    3);
    expect_apart(pair(R"(
        p = nn.linear(x, a); k = nn.relu(p);
        l = nn.linear(x, b);)"),
                 4);
    expect_apart(pair(R"(
        p = nn.linear(x, a); k = nn.relu(p);
        q = nn.linear(x, b); l = math.tanh(q);)"),
                 4);
    expect_apart(pair(R"(
        p = nn.linear(x, a); k = nn.relu(p);
        q = nn.linear(t, b); l = nn.relu(q);)",
                      "t: real[12, 64];"),
                 4);
    expect_apart(pair(R"(
        p = nn.linear(x, a); k = nn.relu(p);
        q = nn.linear(x, t); l = nn.relu(q);)",
                      "t: real[32, 64];"),
                 4);
    // By row, not by channel.
    expect_apart(pair(R"(
        k = nn.linear(x, a);
        q = nn.linear(x, b); l = math.mul(q, o);)"),
                 4);
    // A gate takes the other product.
    expect_apart(pair(R"(
        k = nn.linear(x, a);
        q = nn.linear(x, b); r = nn.sigmoid(q); l = math.mul(r, k);)"),
                 4);
}

TEST(Siblings, OnlyOneGeometry) {
    expect_apart(R"(
graph G {
    @input { x: real[1, 64, 8, 8]; }
    @output { y: real[1, 24, 4, 4]; z: real[1, 24, 4, 4]; }
    @variable { a: real[32, 64, 1, 1]; b: real[32, 64, 3, 3]; c: real[24, 32, 1, 1]; d: real[24, 32, 1, 1]; }
    @compose {
        k = nn.conv{stride = [2, 2], dilation = [1, 1], padding = [0, 0, 0, 0], groups = 1}(x, a);
        l = nn.conv{stride = [2, 2], dilation = [1, 1], padding = [1, 1, 0, 0], groups = 1}(x, b);
        y = nn.conv{stride = [1, 1], dilation = [1, 1], padding = [0, 0, 0, 0], groups = 1}(k, c);
        z = nn.conv{stride = [1, 1], dilation = [1, 1], padding = [0, 0, 0, 0], groups = 1}(l, d);
    }
})",
                 4);
}

// A transposed convolution has a product for each remainder of the stride, which writes a part of
// the result.
TEST(Siblings, PartsOfAResultStay) {
    expect_apart(R"(
graph G {
    @input { x: real[1, 32, 8, 8]; }
    @output { y: real[1, 24, 17, 17]; z: real[1, 24, 17, 17]; }
    @variable { a: real[32, 9, 3, 3]; b: real[32, 9, 3, 3]; c: real[24, 9, 1, 1]; d: real[24, 9, 1, 1]; }
    @compose {
        k = nn.deconv{stride = [2, 2], dilation = [1, 1], padding = [0, 0, 0, 0]}(x, a);
        l = nn.deconv{stride = [2, 2], dilation = [1, 1], padding = [0, 0, 0, 0]}(x, b);
        y = nn.conv{stride = [1, 1], dilation = [1, 1], padding = [0, 0, 0, 0], groups = 1}(k, c);
        z = nn.conv{stride = [1, 1], dilation = [1, 1], padding = [0, 0, 0, 0], groups = 1}(l, d);
    }
})",
                 10);
}

}  // namespace
}  // namespace lemma
