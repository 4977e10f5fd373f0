// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/memory/views.h"

#include <gtest/gtest.h>

#include "loop/passes/memory/concat.h"
#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

// z = [p; q] along an axis, of two sums.
struct Concat : TestRegion {
    const ir::TensorId x = input("x", {4, 6, 8}), p = tensor("p", {4, 6}), q = tensor("q", {4, 6});
    ir::TensorId z;

    explicit Concat(size_t axis) {
        tensor::Shape shape = {4, 6};
        shape[axis] *= 2;
        z = tensor("z", shape);
        for (const ir::TensorId id : {p, q}) {
            sum("part", id, {8}, [&](const auto& i) { return read(x, i); });
        }
        FusionGroup group = copy(p);
        Stage second = copy(q).stages[0];
        ExprId& index = second.writes[0].index[axis];
        index = make(Op::Add, index, build.integer(shape[axis] / 2));
        group.stages.push_back(std::move(second));
        find_reads(graph, group);
        graph.groups.push_back(std::move(group));
    }
    FusionGroup copy(ir::TensorId from) {
        Stage stage = stage_of(from, {}, [&](const auto& i) { return read(from, i); });
        stage.writes[0].tensor = z;
        FusionGroup group = add("z", std::move(stage));
        graph.groups.pop_back();
        return group;
    }
};

TEST(FindInsertions, PartsAreMadeInTheWhole) {
    Concat t(1);
    const ir::TensorId y = t.tensor("y", {4, 12});
    t.map("y", y, [&](const auto& i) { return t.read(t.z, i); });
    t.graph.results = {y};
    EXPECT_EQ(find_insertions(t.region), 2);
    EXPECT_EQ(t.region.inside.at(t.q).second, (std::vector<int64_t>{0, 6}));
    EXPECT_EQ(t.labels(), (Labels{"part", "part", "y"}));
    EXPECT_EQ(verify(t.region), "");
}

TEST(FindParts, PartsLieOneBehindTheOther) {
    Concat t(0);
    t.graph.results = {t.z};
    EXPECT_EQ(find_parts(t.region), 2);
    EXPECT_EQ(t.region.parents.at(t.q), std::pair(t.z, int64_t{24}));
    EXPECT_EQ(t.labels(), (Labels{"part", "part"}));
    EXPECT_EQ(verify(t.region), "");
}

TEST(FindParts, NotAlongAnInnerAxis) {
    Concat t(1);
    t.graph.results = {t.z};
    EXPECT_EQ(find_parts(t.region), 0);
}

TEST(FindViews, ACopyInOrderHasNoKernel) {
    TestRegion t;
    const ir::TensorId x = t.input("x", {4, 6}), y = t.tensor("y", {2, 6});
    t.map("y", y, [&](const auto& i) {
        return t.read(x, {t.make(Op::Add, i[0], t.build.integer(2)), i[1]});
    });
    t.graph.results = {y};
    EXPECT_EQ(find_views(t.region), 1);
    EXPECT_EQ(t.region.parents.at(y), std::pair(x, int64_t{12}));
    EXPECT_TRUE(t.graph.groups.empty());
}

}  // namespace
}  // namespace lemma::loop
