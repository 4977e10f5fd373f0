// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/fusion/siblings.h"

#include <gtest/gtest.h>

#include "loop/passes/test_region.h"
#include "loop/passes/verify.h"

namespace lemma::loop {
namespace {

using Labels = std::vector<std::string>;

// Two products of x with narrow weights, each of which another group reads.
struct Products : TestRegion {
    explicit Products(int64_t lanes) {
        const ir::TensorId x = input("x", {16, 40});
        for (const char* name : {"p", "q"}) {
            const ir::TensorId w = weights("w", {lanes, 40}), p = tensor(name, {16, lanes});
            const ir::TensorId y = tensor("y", {16, lanes});
            sum(name, p, {40}, [&](const auto& i) {
                return make(Op::Mul, read(x, {i[0], i[2]}), read(w, {i[1], i[2]}));
            });
            map("y", y, [&](const auto& i) { return build.make(Op::Sqrt, {read(p, i)}); });
            graph.results.insert(y);
        }
    }
};

TEST(MergeSiblings, NarrowProductsOfOneOperand) {
    Products t(9);
    EXPECT_EQ(merge_siblings(t.graph, {.vector_bytes = 16}, kLeastGain), 1);
    EXPECT_EQ(t.labels(), (Labels{"p weights", "p", "y", "y"}));
    EXPECT_EQ(verify(t.region), "");
}

TEST(MergeSiblings, WideOnesStayApart) {
    Products t(32);
    EXPECT_EQ(merge_siblings(t.graph, {.vector_bytes = 16}, kLeastGain), 0);
    EXPECT_EQ(t.graph.groups.size(), 4U);
}

}  // namespace
}  // namespace lemma::loop
