// SPDX-License-Identifier: Apache-2.0
#include "loop/ir/groups.h"

#include <gtest/gtest.h>

namespace lemma::loop {
namespace {

// Each item stores its number for its group, and then reads that of its neighbour.
struct Neighbours {
    Function f;
    Builder build{f};
    BufferId to = build.buffer("to", tensor::DType::I64, true);
    BufferId shared = build.shared(tensor::DType::I64, 8);
    VarId thread = build.var("thread");

    explicit Neighbours(ExprId (*around)(Neighbours&) = nullptr) {
        f.name = "neighbours";
        f.item = build.var("item");
        f.items = 16;
        f.group = 8;
        const ExprId eight = build.integer(8);
        f.body.push_back({Bind{thread, build.make(Op::Mod, {build.index(f.item), eight})}});
        Address own;
        own.add(thread, 1);
        f.body.push_back({StoreStmt{shared, own, build.index(f.item), {}}});
        build.stored();
        if (around) {
            If only{around(*this), {}};
            only.body.push_back({Barrier{}});
            f.body.push_back({std::move(only)});
        } else {
            f.body.push_back({Barrier{}});
        }
        Address next;
        next.dynamic = build.make(
            Op::Mod, {build.make(Op::Add, {build.index(thread), build.integer(1)}), eight});
        Address item;
        item.add(f.item, 1);
        f.body.push_back({StoreStmt{to, item, build.load(shared, next), {}}});
    }
};

TEST(Groups, HaveAText) {
    EXPECT_EQ(print(Neighbours().f), R"(kernel neighbours items 16 group 8
  buffer b0: i64 written
  buffer b1: i64 written shared 8
  %1 = int mod(item, 8)
  v0 = %1
  b1[0 + 1*v0] = item
  barrier
  %2 = int add(v0, 1)
  %3 = int mod(%2, 8)
  %4 = int b1[0 + %3]
  b0[0 + 1*item] = %4
)");
}

TEST(Groups, MustReachEachBarrierTogether) {
    EXPECT_EQ(verify(Neighbours().f), "");
    const auto some = [](Neighbours& n) {
        return n.build.make(Op::Less, {n.build.index(n.thread), n.build.integer(4)});
    };
    EXPECT_EQ(verify(Neighbours(some).f), "a barrier that some items do not reach");
    const auto group = [](Neighbours& n) {
        const ExprId number = n.build.make(Op::Div, {n.build.index(n.f.item), n.build.integer(8)});
        return n.build.make(Op::Less, {number, n.build.integer(1)});
    };
    EXPECT_EQ(verify(Neighbours(group).f), "");
}

TEST(Groups, ExchangeTogether) {
    Neighbours n;
    const LocalId other = n.build.local({Kind::Int, 1});
    n.f.items = n.f.group = 32;
    n.f.body.push_back({Exchange{other, n.build.index(n.f.item), 16}});
    EXPECT_EQ(verify(n.f), "");
    EXPECT_TRUE(print(n.f).ends_with("  l0 = item of 16\n")) << print(n.f);
    std::get<Exchange>(n.f.body.back().node).distance = 32;
    EXPECT_EQ(verify(n.f), "an exchange with no item");
    n.f.items = n.f.group = 16;
    std::get<Exchange>(n.f.body.back().node).distance = 1;
    EXPECT_EQ(verify(n.f), "a warp without all of its items");
    n.f.items = n.f.group = 32;
    If some{n.build.make(Op::Less, {n.build.index(n.f.item), n.build.integer(7)}), {}};
    some.body.push_back(n.f.body.back());
    n.f.body.back() = {std::move(some)};
    EXPECT_EQ(verify(n.f), "a barrier that some items do not reach");
}

// All items know the answer of a barrier, so they may decide by it to meet again.
TEST(Groups, AskAtABarrier) {
    Neighbours n;
    const LocalId any = n.build.local({Kind::Bool, 1});
    const ExprId first = n.build.make(Op::Less, {n.build.index(n.f.item), n.build.integer(1)});
    n.f.body.push_back({Barrier{any, first}});
    If again{n.build.get(any), {}};
    again.body.push_back({Barrier{}});
    n.f.body.push_back({std::move(again)});
    EXPECT_EQ(verify(n.f), "");
    EXPECT_TRUE(print(n.f).contains("  l0 = barrier any %5\n")) << print(n.f);
    n.f.body.push_back({Set{any, first}});
    EXPECT_EQ(verify(n.f), "a barrier that some items do not reach");
    n.f.body.pop_back();
    std::get<Barrier>(n.f.body[n.f.body.size() - 2].node).value = n.build.index(n.f.item);
    EXPECT_EQ(verify(n.f), "a question about another type");
    std::get<Barrier>(n.f.body[n.f.body.size() - 2].node).value = {};
    EXPECT_EQ(verify(n.f), "half of a question");
}

TEST(Groups, HaveSoMuchMemory) {
    Neighbours n;
    const BufferId bytes = n.build.shared(tensor::DType::U8, 3);
    const BufferId last = n.build.shared(tensor::DType::F32, 8);
    EXPECT_EQ(n.f.group_memory(bytes), 64);
    EXPECT_EQ(n.f.group_memory(last), 80);  // at a whole vector
    EXPECT_EQ(n.f.group_memory(), 112);
    EXPECT_EQ(verify(n.f), "");
    n.build.shared(tensor::DType::F32, kMostGroupMemory / 4);
    EXPECT_EQ(verify(n.f), "more memory than a group has");
}

TEST(Groups, AreWhole) {
    Neighbours some;
    some.f.items = 15;
    EXPECT_EQ(verify(some.f), "a group without all of its items");
    some.f.group = 0;
    EXPECT_EQ(verify(some.f), "memory of a group in a kernel without groups");
    some.f.group = 2048;
    EXPECT_EQ(verify(some.f), "a group of another size");
}

}  // namespace
}  // namespace lemma::loop
