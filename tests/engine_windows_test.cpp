// SPDX-License-Identifier: Apache-2.0
// Windows over adjacent rows, elements a few apart, and operands that are contiguous along another
// axis: vectors at the edges and in between.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/engine.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using engine::Engine;
using interpret::NamedArrays;
using testing_support::load_text;
using testing_support::random_inputs;
using testing_support::run_interpreter;

struct Ran {
    NamedArrays outputs, wanted;
    std::string dumped;
};

Ran run(const std::string& text) {
    const auto state = load_text(text);
    if (!state) return {};
    const NamedArrays inputs = random_inputs(state->program());
    auto wanted = run_interpreter(*load_text(text), inputs);
    auto engine = Engine::create(*state, {.verify = true, .threads = 2, .dump_pass = "schedule"});
    EXPECT_TRUE(wanted && engine);
    if (!wanted || !engine) return {};
    auto outputs = (*engine)->run(inputs);
    EXPECT_TRUE(outputs) << outputs.error().message;
    if (!outputs) return {};
    return {std::move(*outputs), std::move(*wanted), (*engine)->dumped()};
}

void expect_near(const Ran& ran, double tolerance) {
    for (const auto& [name, items] : ran.wanted) {
        const auto& got = ran.outputs.at(name)[0];
        ASSERT_EQ(got.shape, items[0].shape);
        for (size_t i = 0; i < items[0].reals.size(); ++i) {
            ASSERT_NEAR(got.reals[i], items[0].reals[i], tolerance) << name << "[" << i << "]";
        }
    }
}

// Fewer steps than lanes, one more than whole vectors, and many; with and without the last element
// among the selected ones.
TEST(EngineWindows, EveryFewElements) {
    for (const int stride : {2, 3, 4, 5}) {
        for (const int extent : {9, 64, 65, 97, 333}) {
            SCOPED_TRACE(fmt::format("stride {}, extent {}", stride, extent));
            const int count = (extent + stride - 1) / stride;
            const Ran ran = run(fmt::format(R"(import layout; import math;
graph G {{
    @input {{ x: real[7, {0}]; }}
    @output {{ y: real[7, {1}]; }}
    @compose {{
        s = layout.slice{{axes = [1], begin = [0], end = [{0}], stride = [{2}]}}(x);
        y = math.add(s, 1.0);
    }}
}})",
                                            extent,
                                            count,
                                            stride));
            if (stride <= 4 && count >= 16) {
                EXPECT_EQ(ran.dumped.find("scalar"), std::string::npos) << ran.dumped;
            }
            expect_near(ran, 0);
        }
    }
}

struct Window {
    int extent, size, stride, dilation, before, after;
};

TEST(EngineWindows, OverTheEdges) {
    const Window windows[] = {{112, 3, 2, 1, 1, 1},
                              {56, 3, 1, 1, 1, 1},
                              {57, 5, 1, 2, 4, 4},
                              {40, 7, 3, 1, 0, 6},
                              {33, 2, 2, 1, 1, 0},
                              {19, 9, 1, 1, 8, 8},  // only one window is whole
                              {70, 4, 4, 3, 2, 5}};
    for (const Window& w : windows) {
        SCOPED_TRACE(fmt::format("{} by {}", w.extent, w.size));
        const int reach = (w.size - 1) * w.dilation + 1;
        const int count = (w.extent + w.before + w.after - reach) / w.stride + 1;
        const Ran ran = run(fmt::format(R"(import nn;
graph G {{
    @input {{ x: real[1, 3, 5, {0}]; }}
    @output {{ m: real[1, 3, 5, {1}]; a: real[1, 3, 5, {1}]; }}
    @compose {{
        m = nn.max_pool{{axes = [2, 3], size = [3, {2}], stride = [1, {3}], dilation = [1, {4}], padding = [1, {5}, 1, {6}]}}(x);
        a = nn.avg_pool{{axes = [2, 3], size = [3, {2}], stride = [1, {3}], dilation = [1, {4}], padding = [1, {5}, 1, {6}]}}(x);
    }}
}})",
                                        w.extent,
                                        count,
                                        w.size,
                                        w.stride,
                                        w.dilation,
                                        w.before,
                                        w.after));
        expect_near(ran, 1e-6);
    }
}

// Tiles are transposed in registers: whole ones, and the rest at two sides.
TEST(EngineTurned, Matrices) {
    for (const auto& [rows, columns] :
         {std::pair{16, 16}, {37, 41}, {100, 17}, {16, 129}, {14, 33}, {9, 64}}) {
        SCOPED_TRACE(fmt::format("{} by {}", rows, columns));
        const Ran ran = run(fmt::format(R"(import layout; import math;
graph G {{
    @input {{ x: real[3, {0}, {1}]; b: real[3, {1}, {0}]; }}
    @output {{ y: real[3, {1}, {0}]; z: real[{1}, {0}, 3]; }}
    @compose {{
        t = layout.transpose{{perm = [0, 2, 1]}}(x);
        u = math.add(t, b);
        y = math.mul(u, 2.0);
        z = layout.transpose{{perm = [2, 1, 0]}}(x);
    }}
}})",
                                        rows,
                                        columns));
        EXPECT_NE(ran.dumped.find("turned x"), std::string::npos) << ran.dumped;
        expect_near(ran, 0);
    }
}

// Rows or columns whose elements compete for one set of the first cache, in blocks with a rest.
TEST(EngineTurned, CompetingLines) {
    for (const auto& [rows, columns] :
         {std::pair{1024, 72}, {1024, 25}, {45, 1024}, {2048, 1024}}) {
        SCOPED_TRACE(fmt::format("{} by {}", rows, columns));
        const Ran ran = run(fmt::format(R"(import layout; import math;
graph G {{
    @input {{ x: real[{0}, {1}]; }}
    @output {{ y: real[{1}, {0}]; z: real[{2}, {0}]; }}
    @compose {{
        t = layout.transpose{{perm = [1, 0]}}(x);
        y = math.mul(t, 2.0);
        s = layout.slice{{axes = [1], begin = [1], end = [{1}]}}(x);
        z = layout.transpose{{perm = [1, 0]}}(s);
    }}
}})",
                                        rows,
                                        columns,
                                        columns - 1));
        EXPECT_NE(ran.dumped.find("turned x"), std::string::npos) << ran.dumped;
        expect_near(ran, 0);
    }
}

// The points of an image are one side of the tiles, unless an operand differs by its rows or
// columns.
TEST(EngineTurned, Images) {
    for (const char* shape : {"2, 24, 1, 1", "1, 1, 32, 40", "1, 24, 1, 40", "1, 1, 32, 1"}) {
        SCOPED_TRACE(shape);
        const Ran ran = run(fmt::format(R"(import layout; import math;
graph G {{
    @input {{ x: real[2, 32, 40, 24]; v: real[2, 24, 32, 32]; b: real[{}]; }}
    @output {{ y: real[2, 24, 32, 40]; z: real[2, 32, 32, 24]; }}
    @compose {{
        t = layout.transpose{{perm = [0, 3, 1, 2]}}(x);
        y = math.add(t, b);
        z = layout.transpose{{perm = [0, 2, 3, 1]}}(v);
    }}
}})",
                                        shape));
        EXPECT_NE(ran.dumped.find("turned x"), std::string::npos) << ran.dumped;
        expect_near(ran, 0);
    }
}

// The channels of a model's output are far apart: they are computed side by side, then transposed.
TEST(EngineTurned, LargeResults) {
    const Ran ran = run(R"(import nn; import math;
graph G {
    @input { x: real[1, 8, 56, 72]; }
    @output { y: real[1, 48, 56, 72]; z: real[1, 48, 56, 72]; }
    @variable { w: real[48, 8, 1, 5]; b: real[48]; }
    @compose {
        c = nn.conv{padding = [0, 2, 0, 2]}(x, w, b);
        y = nn.relu(c);
        z = math.add(y, 1.0);
    }
})");
    // With short vectors, lanes along the points are faster.
    const bool wide = ran.dumped.find("x16") != std::string::npos;
    EXPECT_NE(ran.dumped.find(wide ? "turned x" : "in place"), std::string::npos) << ran.dumped;
    expect_near(ran, 1e-5);
}

// Depthwise convolutions of a model's input: copies in blocks of channels.
TEST(EngineTurned, BlocksOfChannels) {
    struct Case {
        int batch, channels, extent, size, stride, padding;
    };
    for (const Case& one : {Case{1, 48, 40, 5, 2, 2},
                            Case{2, 64, 33, 3, 1, 1},
                            Case{1, 32, 64, 7, 1, 3},
                            Case{3, 96, 21, 3, 2, 1}}) {
        SCOPED_TRACE(fmt::format("{} channels of {}", one.channels, one.extent));
        const int to = (one.extent + 2 * one.padding - one.size) / one.stride + 1;
        const Ran ran = run(fmt::format(R"(import nn; import math;
graph G {{
    @input {{ x: real[{0}, {1}, {2}, {2}]; r: real[{0}, {1}, {6}, {6}]; }}
    @output {{ y: real[{0}, {1}, {6}, {6}]; }}
    @variable {{ w: real[{1}, 1, {3}, {3}]; b: real[{1}]; }}
    @compose {{
        c = nn.conv{{groups = {1}, stride = [{4}, {4}], padding = [{5}, {5}, {5}, {5}]}}(x, w, b);
        s = math.add(c, r);
        y = nn.relu(s);
    }}
}})",
                                        one.batch,
                                        one.channels,
                                        one.extent,
                                        one.size,
                                        one.stride,
                                        one.padding,
                                        to));
        // A block has the lanes of one vector. With short vectors, lanes along the points are
        // faster.
        const bool wide = ran.dumped.find("x16") != std::string::npos;
        EXPECT_NE(ran.dumped.find(wide ? "tile 1x(" : "tile "), std::string::npos) << ran.dumped;
        EXPECT_TRUE(!wide || ran.dumped.find("in place") == std::string::npos) << ran.dumped;
        expect_near(ran, 1e-4);
    }
}

// The result has other readers, and the input another sum.
TEST(EngineTurned, BlocksOfChannelsBesideOtherReaders) {
    const Ran ran = run(R"(import nn; import math;
graph G {
    @input { x: real[1, 32, 40, 40]; v: real[1, 32, 40, 40]; }
    @output { y: real[1, 24, 40, 40]; z: real[1, 32, 40, 40]; m: real[1, 32, 20, 20]; u: real[1, 32, 40, 40]; }
    @variable { w: real[32, 1, 5, 5]; b: real[32]; k: real[24, 32, 1, 1]; }
    @compose {
        c = nn.conv{groups = 32, padding = [2, 2, 2, 2]}(x, w, b);
        y = nn.conv(c, k);
        z = nn.relu(c);
        m = nn.max_pool{axes = [2, 3], size = [2, 2], stride = [2, 2]}(c);
        d = nn.conv{groups = 32, padding = [2, 2, 2, 2]}(v, w, b);
        e = nn.conv{groups = 32, padding = [2, 2, 2, 2]}(v, w);
        u = math.sub(d, e);
    }
})");
    expect_near(ran, 1e-3);
}

}  // namespace
}  // namespace lemma
