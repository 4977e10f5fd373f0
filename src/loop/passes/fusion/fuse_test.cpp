// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/fusion/fuse.h"

#include <gtest/gtest.h>

#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

struct Chain : TestRegion {
    const ir::TensorId x = input("x", {8, 6}), a = tensor("a", {8, 6}), y = tensor("y", {8, 6}),
                       s = tensor("s", {8}), z = tensor("z", {8});

    void twice(const char* label, ir::TensorId from, ir::TensorId to) {
        map(label, to, [&](const auto& i) { return make(Op::Add, read(from, i), read(from, i)); });
    }
};

TEST(Fuse, AMapBecomesPartOfItsReader) {
    Chain t;
    t.twice("a", t.x, t.a);
    t.twice("y", t.a, t.y);
    t.graph.results = {t.y};
    EXPECT_EQ(fuse(t.graph), 1);
    EXPECT_EQ(t.labels(), Labels{"y"});
    EXPECT_EQ(t.graph.groups[0].reads, std::vector<ir::TensorId>{t.x});
    EXPECT_EQ(verify(t.region), "");
}

TEST(Fuse, AResultStays) {
    Chain t;
    t.twice("a", t.x, t.a);
    t.twice("y", t.a, t.y);
    t.graph.results = {t.a, t.y};
    EXPECT_EQ(fuse(t.graph), 0);
}

TEST(Fuse, AMapBehindASumIsItsEpilogue) {
    Chain t;
    t.sum("s", t.s, {6}, [&](const auto& i) { return t.read(t.x, i); });
    t.twice("z", t.s, t.z);
    t.graph.results = {t.z};
    EXPECT_EQ(fuse(t.graph), 1);
    const Stage& stage = t.graph.groups[0].stages[0];
    EXPECT_TRUE(stage.finish.valid() && stage.total.valid());
    EXPECT_EQ(stage.writes[0].tensor, t.z);
    EXPECT_EQ(verify(t.region), "");
}

}  // namespace
}  // namespace lemma::loop
