// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/parts.h"

#include <gtest/gtest.h>

#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

struct Split : TestRegion {
    const ir::TensorId x = input("x", {4}), a = tensor("a", {4}), b = tensor("b", {4});
    FusionGroup& group = map("split", a, [&](const auto& i) { return read(x, i); });

    void add_part(ir::TensorId from) {
        group.stages.push_back(stage_of(b, {}, [&](const auto& i) { return read(from, i); }));
        group.writes.push_back(b);
        find_reads(graph, group);
    }
};

TEST(SeparateParts, AGroupForEachPart) {
    Split t;
    t.add_part(t.x);
    EXPECT_EQ(separate_parts(t.graph), 1);
    EXPECT_EQ(t.labels(), (Labels{"split", "split"}));
    EXPECT_EQ(verify(t.region), "");
}

TEST(SeparateParts, NotWhereOnePartReadsAnother) {
    Split t;
    t.add_part(t.a);
    EXPECT_EQ(separate_parts(t.graph), 0);
    EXPECT_EQ(t.graph.groups.size(), 1U);
}

}  // namespace
}  // namespace lemma::loop
