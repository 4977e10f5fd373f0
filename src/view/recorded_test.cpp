// SPDX-License-Identifier: Apache-2.0
#include "view/recorded.h"

#include <gtest/gtest.h>

namespace lemma::view {
namespace {

ir::Program program() {
    ir::Program program;
    ir::Operation inner, outer;
    inner.op = "nn.conv";
    inner.label = "a";
    outer.kind = ir::OperationKind::Compound;
    outer.op = "onnx.conv.Conv";
    outer.label = "a";
    outer.parts = {program.operations.add(std::move(inner))};
    ir::Graph graph;
    graph.operations = {program.operations.add(std::move(outer))};
    program.main = program.graphs.add(std::move(graph));
    return program;
}

TEST(Recorded, FindsOperationsAgain) {
    const auto times =
        recorded_times(program(), R"({"threads": 2, "min_ms": 3.5, "peak_gflops": 100,
        "profile": [{"operation": "nn.conv", "label": "a", "min_us": 500, "gflops": 50},
                    {"operation": "nn.other", "label": "b", "min_us": 1}]})");
    ASSERT_TRUE(times);
    EXPECT_EQ((*times)["threads"], 2);
    EXPECT_EQ((*times)["total_ms"], 3.5);
    EXPECT_EQ((*times)["operations"], Json({{"0", 0.5}, {"1", 0.5}}));  // and the call around it
    EXPECT_EQ((*times)["share_of_peak"]["1"], 0.5);
    EXPECT_EQ((*times)["kernels"].size(), 2u);
}

TEST(Recorded, RefusesOtherDocuments) {
    for (const char* const text :
         {"", "[]", "{}", R"({"profile": 1})", R"({"profile": [{"operation": "x"}]})", "\xff"})
        EXPECT_FALSE(recorded_times(program(), text)) << text;
    EXPECT_TRUE(recorded_times(program(), R"({"profile": [1, "x"], "threads": "many"})"));
}

}  // namespace
}  // namespace lemma::view
