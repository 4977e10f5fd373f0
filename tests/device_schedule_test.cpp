// SPDX-License-Identifier: Apache-2.0
// The schedules of kernels for devices, on random shapes: each kernel gives the numbers of the
// interpreter, in any order of its items, and has the schedule that its shape asks for.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>

#include "engine/engine.h"
#include "interpret/random.h"
#include "loop/ir/groups.h"
#include "session/tensors.h"
#include "support/engine_models.h"
#include "support/loop_evaluator.h"
#include "support/test_device.h"

namespace lemma {
namespace {

using interpret::NamedArrays;
using testing::TestDevice;

// The schedules of all kernels, after a run that is compared with the interpreter.
std::string schedules_of(const std::string& graph, uint64_t seed = 5) {
    const std::string text =
        "import image; import layout; import linalg; import math; import nn;\n" + graph;
    const auto oracle = testing_support::load_text(text, testing_support::small_weight);
    const auto own = testing_support::load_text(text, testing_support::small_weight);
    if (!oracle || !own) return "no model";
    const auto device = std::make_shared<TestDevice>();
    const engine::EngineOptions options{
        .verify = true,
        .threads = 1,
        .device = device,
        .load_kernel = [device = device.get()](const loop::Function& function) {
            return device->add(function);
        }};
    auto engine = engine::Engine::create(*own, options);
    if (!engine) return engine.error().message;
    NamedArrays inputs;
    EXPECT_TRUE(session::add_random_inputs(oracle->program(), seed, inputs));
    const auto want = testing_support::run_interpreter(*oracle, inputs);
    const auto got = (*engine)->run(inputs);
    if (!want || !got) return (got ? want : got).error().message;
    for (const auto& [name, items] : *want) {
        const std::vector<double>& a = got->at(name)[0].reals;
        const std::vector<double>& b = items[0].reals;
        EXPECT_EQ(got->at(name)[0].integers, items[0].integers) << name << text;
        EXPECT_EQ(a.size(), b.size());
        size_t wrong = 0;
        for (size_t i = 0; i < b.size() && wrong < 3; ++i) {
            const bool near = std::fabs(a[i] - b[i]) <= 2e-5 * (1 + std::fabs(b[i]));
            wrong += !near;
            EXPECT_TRUE(near) << name << "[" << i << "]: " << a[i] << ", not " << b[i] << text;
        }
    }
    std::string result;
    for (const loop::PlanStep& step : (*engine)->plan().steps) {
        if (!step.kernel()) continue;
        result += (result.empty() ? "" : "; ") + step.kernel()->schedule;
    }
    return result;
}

int64_t any(uint64_t seed, uint64_t number, int64_t most) {
    return 1 +
           static_cast<int64_t>(interpret::random_bits(seed, number) % static_cast<uint64_t>(most));
}

// ---- Maps ---------------------------------------------------------------------------------------

std::string relu(const std::string& shape) {
    return schedules_of(
        fmt::format(R"(graph G {{ @input {{ x: real[{0}]; }} @output {{ y: real[{0}]; }}
    @compose {{ y = nn.relu(x); }} }})",
                    shape));
}

TEST(DeviceSchedule, MapsInVectors) {
    EXPECT_EQ(relu("40000"), "threads x4");
    EXPECT_EQ(relu("40003"), "threads x4");  // the last three one by one
    EXPECT_EQ(relu("3, 7, 2001"), "threads x4");
    EXPECT_EQ(relu("1000"), "threads");  // all threads have something to do
}

TEST(DeviceSchedule, MapsOfSeveralShapesInVectors) {
    const auto add = [](const std::string& a, const std::string& b) {
        return schedules_of(fmt::format(R"(graph G {{ @input {{ x: real[{0}]; z: real[{1}]; }}
    @output {{ y: real[{0}]; }} @compose {{ y = math.add(x, z); }} }})",
                                        a,
                                        b));
    };
    EXPECT_EQ(add("9, 64, 64", "1, 64, 1"), "threads x4");
    EXPECT_EQ(add("9, 64, 64", "1, 1, 64"), "threads x4");
    EXPECT_EQ(add("9, 61, 63", "1, 61, 1"), "threads");  // rows begin between vectors
    EXPECT_EQ(add("9, 64, 64", "9, 1, 1"), "threads x4");
}

TEST(DeviceSchedule, RandomMaps) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
        const std::string shape = fmt::format(
            "{}, {}, {}", any(seed, 0, 9), any(seed, 1, 70), any(seed, 2, 90) * (seed % 2 ? 4 : 1));
        schedules_of(fmt::format(R"(graph G {{ @input {{ x: real[{0}]; z: real[{0}]; }}
    @output {{ y: real[{0}]; b: bool[{0}]; }}
    @compose {{ a = math.mul(x, z); y = math.max(a, 0.25); b = math.lt(x, z); }} }})",
                                 shape),
                     seed);
    }
}

std::string transpose(const std::string& shape, const std::string& perm) {
    return schedules_of(
        fmt::format(R"(graph G {{ @input {{ x: real[{0}]; }} @output {{ y: real[~, ~, ~]; }}
    @compose {{ t = layout.transpose{{perm=[{1}]}}(x); y = math.mul(t, 2.0); }} }})",
                    shape,
                    perm));
}

TEST(DeviceSchedule, TransposesByGroups) {
    EXPECT_EQ(transpose("3, 40, 70", "0, 2, 1"), "transposed by groups");
    EXPECT_EQ(transpose("64, 3, 32", "2, 1, 0"), "transposed by groups");
    EXPECT_EQ(transpose("17, 5, 33", "1, 2, 0"), "transposed by groups");
    EXPECT_EQ(transpose("3, 8, 70", "0, 2, 1"), "threads");
    // An operand that is read in order goes past the memory of the group.
    EXPECT_EQ(
        schedules_of(
            R"(graph G { @input { x: real[45, 60]; z: real[60, 45]; } @output { y: real[60, 45]; }
    @compose { t = layout.transpose{perm=[1, 0]}(x); y = math.sub(t, z); } })"),
        "transposed by groups");
}

TEST(DeviceSchedule, RandomTransposes) {
    const char* const perms[] = {"0, 2, 1", "2, 1, 0", "1, 2, 0", "2, 0, 1", "1, 0, 2"};
    for (uint64_t seed = 0; seed < 10; ++seed) {
        const std::string shape =
            fmt::format("{}, {}, {}", any(seed, 0, 50), any(seed, 1, 50), any(seed, 2, 50));
        transpose(shape, perms[seed % 5]);
    }
}

// Steps of a scan keep their order; each item has rows of its own.
TEST(DeviceSchedule, FormulasInOrder) {
    const auto scan = [](const std::string& shape, int axis) {
        return schedules_of(
            fmt::format(R"(graph G {{ @input {{ x: real[{0}]; }} @output {{ y: real[{0}]; }}
    @compose {{ y = math.cumsum{{axis={1}}}(x); }} }})",
                        shape,
                        axis));
    };
    EXPECT_TRUE(scan("40, 9", 1).contains("threads, in order"));
    EXPECT_TRUE(scan("4, 9, 20", 1).contains("threads, in order"));
    EXPECT_TRUE(scan("300", 0).contains("in order, on the processor"));
    EXPECT_TRUE(
        schedules_of(R"(graph G { @input { x: real[50, 30]; } @output { y: int[50]; z: int[30]; }
    @compose { y = math.argmax{axis=1, squeeze=true}(x); z = math.argmin{axis=0, squeeze=true}(x); } })")
            .contains("threads, in order"));
}

// ---- Sums ---------------------------------------------------------------------------------------

std::string sum(const std::string& shape, int axis, const char* op = "sum") {
    return schedules_of(
        fmt::format(R"(graph G {{ @input {{ x: real[{}]; }} @output {{ y: real[~, ~]; }}
    @compose {{ y = math.{}_reduce{{axes=[{}], squeeze=true}}(x); }} }})",
                    shape,
                    op,
                    axis));
}

TEST(DeviceSchedule, SumsOfWarpsAndGroups) {
    EXPECT_EQ(sum("7, 9, 70", 2), "warps");
    EXPECT_EQ(sum("2, 3, 1111", 2), "groups");
    EXPECT_EQ(sum("2, 3, 1111", 2, "max"), "groups");
    EXPECT_EQ(sum("1, 2, 17001", 2), "groups");
    EXPECT_EQ(sum("3, 100, 45", 1), "groups of columns");
    EXPECT_EQ(sum("3, 100, 45", 1, "min"), "groups of columns");
    EXPECT_EQ(sum("100, 1, 1", 0), "warps");
}

// The weights lie along the sum, but the larger operand does not.
TEST(DeviceSchedule, SumsAlongTheLargerOperand) {
    EXPECT_EQ(schedules_of(
                  R"(graph G { @input { x: real[1, 64, 11, 20]; } @output { y: real[1, 3, 11, 20]; }
    @variable { w: real[3, 64, 1, 1]; b: real[3]; } @compose { y = nn.conv(x, w, b); } })"),
              "groups of columns");
    EXPECT_EQ(schedules_of(
                  R"(graph G { @input { x: real[70, 300]; v: real[300]; } @output { y: real[70]; }
    @compose { p = math.mul{rhs_align=1}(x, v); y = math.sum_reduce{axes=[1], squeeze=true}(p); } })"),
              "warps");
}

TEST(DeviceSchedule, RandomSums) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
        const std::string shape =
            fmt::format("{}, {}, {}", any(seed, 0, 7), any(seed, 1, 150), any(seed, 2, 150));
        sum(shape, static_cast<int>(seed % 3), seed % 2 ? "sum" : "max");
    }
}

// ---- Windows ------------------------------------------------------------------------------------

TEST(DeviceSchedule, WindowsShareWhatTheyRead) {
    EXPECT_EQ(
        schedules_of(
            R"(graph G { @input { x: real[1, 24, 53, 54]; } @output { y: real[1, 24, 53, 54]; }
    @variable { w: real[24, 1, 3, 3]; b: real[24]; }
    @compose { y = nn.conv{padding=[1, 1, 1, 1], groups=24}(x, w, b); } })"),
        "threads, 2 windows");
    EXPECT_EQ(schedules_of(
                  R"(graph G { @input { x: real[1, 6, 19, 23]; } @output { y: real[1, 6, 10, 12]; }
    @compose { y = nn.max_pool{size=[3, 3], stride=[2, 2], padding=[1, 1, 1, 1]}(x); } })"),
              "threads, windows");
}

TEST(DeviceSchedule, RandomWindows) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
        schedules_of(
            fmt::format(
                R"(graph G {{ @input {{ x: real[{}, {}, {}, {}]; }} @output {{ y: real[~, ~, ~, ~]; }}
    @compose {{ y = nn.avg_pool{{size=[{}, {}], stride=[{}, 1], padding=[1, 0, 1, 2]}}(x); }} }})",
                any(seed, 0, 3),
                any(seed, 1, 9),
                6 + any(seed, 2, 40),
                6 + any(seed, 3, 50),
                1 + any(seed, 4, 3),
                1 + any(seed, 5, 4),
                any(seed, 6, 2)),
            seed);
    }
}

// ---- Rows ---------------------------------------------------------------------------------------

std::string softmax(const std::string& shape, int axis) {
    return schedules_of(
        fmt::format(R"(graph G {{ @input {{ x: real[{0}]; }} @output {{ y: real[{0}]; }}
    @compose {{ y = nn.softmax{{axes=[{1}]}}(x); }} }})",
                    shape,
                    axis));
}

TEST(DeviceSchedule, RowsInRegisters) {
    EXPECT_EQ(softmax("13, 128", 1), "rows x4, 32 threads");
    EXPECT_EQ(softmax("13, 127", 1), "rows x1, 32 threads");
    EXPECT_EQ(softmax("9, 10", 1), "rows x1, 16 threads");
    EXPECT_EQ(softmax("5, 1028", 1), "rows x4, 256 threads");
    EXPECT_EQ(softmax("3, 1501", 1), "rows x1, 256 threads");
}

// Few long rows have groups, although their elements lie apart.
TEST(DeviceSchedule, RowsSideBySide) {
    EXPECT_EQ(softmax("3, 20, 41", 1), "rows, a thread each");
    EXPECT_EQ(softmax("1, 600, 5", 1), "rows x1, 128 threads");
}

TEST(DeviceSchedule, RandomRows) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
        const int64_t rows = any(seed, 0, 40), columns = any(seed, 1, 300) * (seed % 2 ? 4 : 1);
        schedules_of(fmt::format(R"(graph G {{ @input {{ x: real[{0}, {1}]; }}
    @output {{ y: real[{0}, {1}]; z: real[{0}, {1}]; n: real[{0}, {1}]; }}
    @variable {{ b: real[{1}]; s: real[{1}]; }}
    @compose {{
        y = nn.layer_norm{{axis=1}}(x, b, s);
        z = nn.rms_norm{{axis=1}}(x, s);
        n = nn.log_softmax{{axes=[1]}}(x);
    }} }})",
                                 rows,
                                 columns),
                     seed);
    }
}

// Parts of a row that lie apart.
TEST(DeviceSchedule, NormsOfGroups) {
    schedules_of(R"(graph G { @input { x: real[9, 12, 5, 7]; } @output { y: real[9, 12, 5, 7]; }
    @variable { b: real[12]; s: real[12]; }
    @compose { y = nn.group_norm{groups=3}(x, b, s); } })");
    schedules_of(R"(graph G { @input { x: real[9, 12, 5, 7]; } @output { y: real[9, 12, 5, 7]; }
    @compose { y = nn.l2_norm{axes=[1]}(x); } })");
}

// A map that is stored while it is summed.
TEST(DeviceSchedule, SumsThatKeepAMap) {
    EXPECT_EQ(schedules_of(
                  R"(graph G { @input { x: real[70, 90]; } @output { e: real[70, 90]; s: real[70]; }
    @compose { e = math.exp(x); s = math.sum_reduce{axes=[1], squeeze=true}(e); } })"),
              "warps");
}

// ---- Seeded faults ------------------------------------------------------------------------------

// The kernels of the model, each with zeros for its arguments.
struct Kernels {
    loop::Plan plan;

    explicit Kernels(const std::string& graph) {
        const auto state = testing_support::load_text(
            "import layout; import linalg; import math; import nn;\n" + graph,
            testing_support::small_weight);
        loop::PlanOptions options;
        options.verify = true;
        options.target.device = true;
        plan = loop::make_plan(state->program(), {}, options);
    }
    // What the evaluator says about the first groups; empty: nothing.
    std::string run(const loop::ScheduledKernel& kernel, const loop::Function& f) const {
        std::vector<tensor::Tensor> buffers;
        for (size_t i = 0; i < f.argument_count(); ++i) {
            const int64_t elements = plan.storages[kernel.arguments[i]].elements;
            buffers.push_back(tensor::Tensor::zeros(f.buffers[i].dtype, {elements}).value());
        }
        const int64_t end = std::min(f.items, 2 * f.group);
        const auto done = testing::evaluate_groups(f, {0, end}, 1, buffers);
        return done ? "" : done.error().message;
    }
};

TEST(DeviceSchedule, EachBarrierIsNeeded) {
    const char* const graphs[] = {
        "graph G { @input { x: real[40, 70]; } @output { y: real[70, 40]; } "
        "@compose { y = layout.transpose{perm=[1, 0]}(x); } }",
        "graph G { @input { x: real[100, 45]; } @output { y: real[45]; } "
        "@compose { y = math.sum_reduce{axes=[0], squeeze=true}(x); } }",
        "graph G { @input { x: real[5, 1028]; } @output { y: real[5, 1028]; } "
        "@compose { y = nn.softmax{axes=[1]}(x); } }"};
    for (const char* const graph : graphs) {
        const Kernels kernels(graph);
        int found = 0;
        for (const loop::PlanStep& step : kernels.plan.steps) {
            if (!step.kernel()) continue;
            const loop::ScheduledKernel& kernel = std::get<loop::ScheduledKernel>(step.kind);
            EXPECT_EQ(kernels.run(kernel, kernel.function), "") << graph;
            for (size_t i = 0; i < kernel.function.body.size(); ++i) {
                if (!std::holds_alternative<loop::Barrier>(kernel.function.body[i].node)) continue;
                loop::Function f = kernel.function;
                f.body.erase(f.body.begin() + static_cast<ptrdiff_t>(i));
                EXPECT_TRUE(kernels.run(kernel, f).contains("at the same time")) << graph;
                ++found;
            }
        }
        EXPECT_GT(found, 0) << graph;
    }
}

// Loops with known extents give items, too.
TEST(DeviceSchedule, RunTimeExtents) {
    const std::string graph = R"(
operator rows {
    @input { x: real[n, c]; index: int[1, m]; }
    @output { y: real[m, c]; }
    @lower { y[i, j] = x[index[0, i], j], i < m, j < c; }
}
graph G { @input { x: real[40, 7]; a: int[40]; w: real[7, 19]; } @output { y: real[~|40, 19]; z: real[~|40, ~|40]; }
    @compose { at = layout.nonzero(a); p = rows(x, at); y = linalg.matmul(p, w);
               t = linalg.matmul{transB=true}(p, p); z = math.mul(t, 0.5); } })";
    for (uint64_t seed = 1; seed < 4; ++seed) {
        EXPECT_TRUE(schedules_of(graph, seed).contains("run-time extents, threads"));
    }
    const Kernels kernels(graph);
    int64_t most = 0;
    for (const loop::PlanStep& step : kernels.plan.steps) {
        if (step.kernel()) most = std::max(most, step.kernel()->run_items.outermost.times);
    }
    EXPECT_EQ(most, 19);
}

TEST(DeviceSchedule, OverlappingStoresAreFound) {
    const Kernels kernels(
        "graph G { @input { x: real[40000]; } @output { y: real[40000]; } "
        "@compose { y = nn.relu(x); } }");
    const auto& kernel = std::get<loop::ScheduledKernel>(kernels.plan.steps.at(0).kind);
    loop::Function f = kernel.function;
    EXPECT_EQ(kernels.run(kernel, f), "");
    auto& store = std::get<loop::StoreStmt>(f.body.back().node);
    store.address.terms.at(0).factor = 3;
    EXPECT_TRUE(kernels.run(kernel, f).contains("at the same time"));
}

}  // namespace
}  // namespace lemma
