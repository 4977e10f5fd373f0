// SPDX-License-Identifier: Apache-2.0
#include "loop/ir/int_ranges.h"

#include <gtest/gtest.h>

namespace lemma::loop {
namespace {

struct Kernel {
    Function f;
    Builder build{f};

    Kernel() {
        f.item = build.var("item");
        f.items = 1000;
    }
    ExprId item() { return build.index(f.item); }
    ExprId make(Op op, ExprId a, int64_t b) { return build.make(op, {a, build.integer(b)}); }
};

TEST(IntRanges, OfAnItemTakenApart) {
    Kernel k;
    const ExprId row = k.make(Op::Div, k.item(), 7), column = k.make(Op::Mod, k.item(), 7);
    const ExprId far = k.make(Op::Mul, row, int64_t{1} << 40);
    const ExprId before = k.make(Op::Add, column, -3);
    IntRanges ranges(k.f);
    EXPECT_EQ(ranges.of(k.item()), (IntRange{0, 999}));
    EXPECT_EQ(ranges.of(row), (IntRange{0, 142}));
    EXPECT_EQ(ranges.of(column), (IntRange{0, 6}));
    EXPECT_EQ(ranges.of(before), (IntRange{-3, 3}));
    EXPECT_EQ(ranges.of(k.make(Op::Div, before, 2)), (IntRange{-2, 1}));
    EXPECT_EQ(ranges.of(k.make(Op::Mod, before, 2)), (IntRange{0, 1}));
    EXPECT_FALSE(ranges.of(far).fits_32_bits());
    EXPECT_EQ(ranges.of(k.make(Op::Mul, far, INT64_MAX)), IntRange{});  // it wraps around
}

TEST(IntRanges, OfLoops) {
    Kernel k;
    const VarId var = k.build.var("var");
    For all{var, k.item(), k.build.integer(500), 4, {}};
    k.f.body.push_back({all});
    IntRanges ranges(k.f);
    EXPECT_EQ(ranges.of(var), (IntRange{0, 499}));
    EXPECT_EQ(ranges.of(k.build.index(var)), (IntRange{0, 499}));
}

// What is read may be any number of its type.
TEST(IntRanges, OfElements) {
    Kernel k;
    const auto load = [&](tensor::DType dtype) {
        return k.build.load(k.build.buffer("from", dtype, false), Address{});
    };
    const ExprId byte = load(tensor::DType::U8), number = load(tensor::DType::I64);
    IntRanges ranges(k.f);
    EXPECT_EQ(ranges.of(byte), (IntRange{0, 255}));
    EXPECT_EQ(ranges.of(number), IntRange{});
}

TEST(IntRanges, NotOfAVariableWithSeveralValues) {
    Kernel k;
    const VarId var = k.build.var("var");
    k.f.body.push_back({Bind{var, k.build.integer(1)}});
    k.f.body.push_back({Bind{var, k.build.integer(int64_t{1} << 40)}});
    IntRanges ranges(k.f);
    EXPECT_EQ(ranges.of(var), IntRange{});
}

TEST(IntRanges, OfAddresses) {
    Kernel k;
    Address at;
    at.offset = 77;
    at.add(k.f.item, -2);
    at.dynamic = k.make(Op::Mod, k.item(), 5);
    IntRanges ranges(k.f);
    EXPECT_EQ(ranges.of(at), (IntRange{-1998, 4}));
    at.terms[0].factor = INT64_MAX;
    EXPECT_EQ(ranges.of(at), IntRange{});
}

TEST(IntRanges, KnowDivisors) {
    Kernel k;
    const ExprId rows = k.make(Op::Mul, k.item(), 12);
    IntRanges ranges(k.f);
    EXPECT_EQ(ranges.divisor_of(rows), 4);
    EXPECT_EQ(ranges.divisor_of(k.make(Op::Add, rows, 6)), 2);
    EXPECT_EQ(ranges.divisor_of(k.item()), 1);
}

}  // namespace
}  // namespace lemma::loop
