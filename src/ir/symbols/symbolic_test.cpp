// SPDX-License-Identifier: Apache-2.0
#include "ir/symbols/symbolic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lemma::ir {
namespace {

// Shorthands, so that the cases below read like expressions.
struct Pool : SymbolPool {
    SymId n = symbol("n", ScalarType::Int, {0, 100});
    SymId m = symbol("m", ScalarType::Int, {1, 50});
    SymId x = symbol("x", ScalarType::Int);
    SymId y = symbol("y", ScalarType::Int);
    SymId p = symbol("p", ScalarType::Bool);
    SymId q = symbol("q", ScalarType::Bool);
    SymId r = symbol("r", ScalarType::Real);
    SymId s = symbol("s", ScalarType::Str);

    SymId i(int64_t value) { return integer(value); }
    SymId op(SymOp code, SymId a) { return *apply(code, a); }
    SymId op(SymOp code, SymId a, SymId b) { return *apply(code, a, b); }
    SymId add(SymId a, SymId b) { return op(SymOp::Add, a, b); }
    SymId sub(SymId a, SymId b) { return op(SymOp::Sub, a, b); }
    SymId mul(SymId a, SymId b) { return op(SymOp::Mul, a, b); }
    SymId div(SymId a, SymId b) { return op(SymOp::Div, a, b); }
    SymId ceil(SymId a, SymId b) { return op(SymOp::CeilDiv, a, b); }
    SymId mod(SymId a, SymId b) { return op(SymOp::Mod, a, b); }
    SymId min(SymId a, SymId b) { return op(SymOp::Min, a, b); }
    SymId max(SymId a, SymId b) { return op(SymOp::Max, a, b); }
    SymId less(SymId a, SymId b) { return op(SymOp::Less, a, b); }
    SymId at_most(SymId a, SymId b) { return op(SymOp::LessEqual, a, b); }
    SymId equal(SymId a, SymId b) { return op(SymOp::Equal, a, b); }
    SymId both(SymId a, SymId b) { return op(SymOp::And, a, b); }
    SymId either(SymId a, SymId b) { return op(SymOp::Or, a, b); }
    SymId no(SymId a) { return op(SymOp::Not, a); }
};

TEST(Symbolic, InternsEqualPolynomials) {
    Pool k;
    EXPECT_EQ(k.add(k.x, k.y), k.add(k.y, k.x));
    EXPECT_EQ(k.mul(k.add(k.x, k.y), k.sub(k.x, k.y)), k.sub(k.mul(k.x, k.x), k.mul(k.y, k.y)));
    EXPECT_EQ(k.sub(k.add(k.x, k.i(3)), k.i(3)), k.x);
    EXPECT_EQ(k.sub(k.x, k.x), k.i(0));
    EXPECT_EQ(k.op(SymOp::Pow, k.add(k.x, k.i(1)), k.i(2)),
              k.add(k.add(k.mul(k.x, k.x), k.mul(k.i(2), k.x)), k.i(1)));
    EXPECT_EQ(*k.apply(SymOp::Add, {k.x, k.y, k.n}), k.add(k.n, k.add(k.y, k.x)));
    EXPECT_NE(k.symbol("x", ScalarType::Int), k.x);
    EXPECT_EQ(k.op(SymOp::Neg, k.op(SymOp::Neg, k.x)), k.x);
}

TEST(Symbolic, FoldsIntConstants) {
    Pool k;
    EXPECT_EQ(k.as_int(k.div(k.i(-7), k.i(2))), -4);
    EXPECT_EQ(k.as_int(k.ceil(k.i(-7), k.i(2))), -3);
    EXPECT_EQ(k.as_int(k.mod(k.i(-7), k.i(3))), 2);
    EXPECT_EQ(k.as_int(k.mod(k.i(7), k.i(-3))), -2);
    EXPECT_EQ(k.as_int(k.op(SymOp::Pow, k.i(3), k.i(4))), 81);
    EXPECT_EQ(k.as_int(k.min(k.i(3), k.i(-4))), -4);
}

TEST(Symbolic, SaysWhyAConstantHasNoValue) {
    Pool k;
    const int64_t most = std::numeric_limits<int64_t>::max();
    EXPECT_FALSE(k.apply(SymOp::Add, k.i(most), k.i(1)));
    EXPECT_EQ(k.fault(), SymFault::Overflow);
    EXPECT_FALSE(k.apply(SymOp::Mul, k.mul(k.i(most), k.x), k.i(2)));
    EXPECT_EQ(k.fault(), SymFault::Overflow);
    EXPECT_FALSE(k.apply(SymOp::Div, k.x, k.i(0)));
    EXPECT_EQ(k.fault(), SymFault::DivisionByZero);
    EXPECT_FALSE(k.apply(SymOp::Mod, k.i(1), k.i(0)));
    EXPECT_EQ(k.fault(), SymFault::DivisionByZero);
    EXPECT_FALSE(k.apply(SymOp::CeilDiv, k.x, k.sub(k.y, k.y)));
    EXPECT_EQ(k.fault(), SymFault::DivisionByZero);
    EXPECT_FALSE(k.apply(SymOp::Pow, k.x, k.i(-1)));
    EXPECT_EQ(k.fault(), SymFault::NegativeExponent);
    EXPECT_FALSE(k.apply(SymOp::ToInt, k.real(std::nan(""))));
    EXPECT_EQ(k.fault(), SymFault::NotANumber);
    EXPECT_FALSE(k.apply(SymOp::ToInt, k.real(1e30)));
    EXPECT_EQ(k.fault(), SymFault::Overflow);
    EXPECT_FALSE(k.apply(SymOp::Add, k.x, k.r));
    EXPECT_EQ(k.fault(), SymFault::BadOperands);
    EXPECT_FALSE(k.apply(SymOp::And, k.x, k.y));
    EXPECT_EQ(k.fault(), SymFault::BadOperands);
    EXPECT_FALSE(k.apply(SymOp::Sub, k.x));
    EXPECT_EQ(k.fault(), SymFault::BadOperands);
    EXPECT_TRUE(k.apply(SymOp::Add, k.x, k.y));
    EXPECT_EQ(k.fault(), SymFault::None);
}

TEST(Symbolic, DividesByConstantsInOneForm) {
    Pool k;
    EXPECT_EQ(k.div(k.x, k.i(1)), k.x);
    EXPECT_EQ(k.div(k.mul(k.i(6), k.x), k.i(3)), k.mul(k.i(2), k.x));
    // (4*x + 7)/4 = x + 1
    EXPECT_EQ(k.div(k.add(k.mul(k.i(4), k.x), k.i(7)), k.i(4)), k.add(k.x, k.i(1)));
    // (x - 1)/2 + 1 = (x + 1)/2
    EXPECT_EQ(k.add(k.div(k.sub(k.x, k.i(1)), k.i(2)), k.i(1)), k.div(k.add(k.x, k.i(1)), k.i(2)));
    // x \ 4 = (x + 3)/4
    EXPECT_EQ(k.ceil(k.x, k.i(4)), k.div(k.add(k.x, k.i(3)), k.i(4)));
    // -(-x / 4) = x \ 4
    EXPECT_EQ(k.op(SymOp::Neg, k.div(k.op(SymOp::Neg, k.x), k.i(4))), k.ceil(k.x, k.i(4)));
    // x / -4 = -(x \ 4)
    EXPECT_EQ(k.div(k.x, k.i(-4)), k.op(SymOp::Neg, k.ceil(k.x, k.i(4))));
    // (x/2)/2 = x/4, (2*x)/4 = x/2, ((x + 1)/2 + 1)/2 = (x + 3)/4
    EXPECT_EQ(k.div(k.div(k.x, k.i(2)), k.i(2)), k.div(k.x, k.i(4)));
    EXPECT_EQ(k.div(k.mul(k.i(2), k.x), k.i(4)), k.div(k.x, k.i(2)));
    EXPECT_EQ(k.div(k.add(k.div(k.add(k.x, k.i(1)), k.i(2)), k.i(1)), k.i(2)),
              k.div(k.add(k.x, k.i(3)), k.i(4)));
    EXPECT_EQ(k.div(k.add(k.mul(k.x, k.i(8)), k.y), k.i(4)),
              k.add(k.mul(k.i(2), k.x), k.div(k.y, k.i(4))));
    EXPECT_EQ(k.div(k.n, k.i(101)), k.i(0));
}

TEST(Symbolic, CancelsDivisorsThatAreNeverZero) {
    Pool k;
    EXPECT_EQ(k.div(k.m, k.m), k.i(1));
    EXPECT_FALSE(k.is_constant(k.div(k.x, k.x)));
    EXPECT_FALSE(k.is_constant(k.div(k.i(0), k.x)));
    EXPECT_EQ(k.div(k.mul(k.m, k.x), k.m), k.x);
    EXPECT_EQ(k.ceil(k.add(k.mul(k.m, k.x), k.m), k.m), k.add(k.x, k.i(1)));
    EXPECT_EQ(k.mod(k.mul(k.m, k.x), k.m), k.i(0));
    EXPECT_EQ(k.div(k.mul(k.i(4), k.x), k.mul(k.i(2), k.y)), k.div(k.mul(k.i(2), k.x), k.y));
    const SymId m1 = k.add(k.m, k.i(1));
    EXPECT_EQ(k.div(k.mul(k.i(3), m1), m1), k.i(3));
    EXPECT_EQ(k.ceil(k.x, k.y), k.op(SymOp::Neg, k.div(k.op(SymOp::Neg, k.x), k.y)));
}

TEST(Symbolic, ReducesModulo) {
    Pool k;
    EXPECT_EQ(k.mod(k.add(k.mul(k.i(8), k.x), k.i(5)), k.i(4)), k.i(1));
    EXPECT_EQ(k.mod(k.add(k.mul(k.i(5), k.x), k.y), k.i(4)), k.mod(k.add(k.x, k.y), k.i(4)));
    EXPECT_EQ(k.mod(k.mod(k.x, k.i(8)), k.i(4)), k.mod(k.x, k.i(4)));
    EXPECT_EQ(k.mod(k.add(k.mul(k.i(2), k.x), k.i(1)), k.i(4)),
              k.add(k.mul(k.i(2), k.mod(k.x, k.i(2))), k.i(1)));
    EXPECT_EQ(k.mod(k.n, k.i(101)), k.n);
    EXPECT_EQ(k.mod(k.x, k.i(1)), k.i(0));
    EXPECT_EQ(k.range(k.mod(k.x, k.i(7))), (Interval{0, 6}));
    EXPECT_EQ(k.range(k.mod(k.x, k.i(-7))), (Interval{-6, 0}));
}

TEST(Symbolic, KeepsMinimaFlatAndSmall) {
    Pool k;
    EXPECT_EQ(k.min(k.x, k.min(k.y, k.n)), k.min(k.min(k.n, k.x), k.y));
    EXPECT_EQ(k.min(k.x, k.x), k.x);
    EXPECT_EQ(k.max(k.n, k.i(0)), k.n);
    EXPECT_EQ(k.min(k.n, k.i(-1)), k.i(-1));
    EXPECT_EQ(k.min(k.x, k.add(k.x, k.i(1))), k.x);
    EXPECT_EQ(k.max(k.min(k.x, k.y), k.x), k.x);
    EXPECT_EQ(k.min(k.add(k.n, k.i(200)), k.m), k.m);
}

TEST(Symbolic, ComparesByTheDifference) {
    Pool k;
    EXPECT_EQ(k.less(k.x, k.y), k.at_most(k.add(k.x, k.i(1)), k.y));
    EXPECT_EQ(k.less(k.mul(k.i(2), k.x), k.i(5)), k.at_most(k.x, k.i(2)));
    EXPECT_EQ(k.no(k.less(k.x, k.y)), k.at_most(k.y, k.x));
    EXPECT_EQ(k.equal(k.mul(k.i(2), k.x), k.mul(k.i(4), k.y)), k.equal(k.mul(k.i(2), k.y), k.x));
    EXPECT_EQ(k.as_bool(k.equal(k.mul(k.i(2), k.x), k.i(5))), false);
    EXPECT_EQ(k.as_bool(k.at_most(k.i(0), k.n)), true);
    EXPECT_EQ(k.as_bool(k.less(k.n, k.i(0))), false);
    EXPECT_EQ(k.as_bool(k.equal(k.n, k.i(101))), false);
    EXPECT_EQ(k.as_bool(k.at_most(k.min(k.x, k.y), k.x)), true);
    EXPECT_EQ(k.as_bool(k.at_most(k.mul(k.i(4), k.div(k.x, k.i(4))), k.x)), true);
    EXPECT_EQ(k.as_bool(k.less(k.x, k.mul(k.i(4), k.ceil(k.x, k.i(4))))), std::nullopt);
    EXPECT_EQ(k.prove(k.at_most(k.x, k.mul(k.i(4), k.ceil(k.x, k.i(4))))), true);
    EXPECT_EQ(k.prove(k.less(k.x, k.y)), std::nullopt);
    const SymId huge = k.mul(k.i(std::numeric_limits<int64_t>::max()), k.x);
    EXPECT_EQ(k.as_bool(k.less(huge, k.op(SymOp::Neg, huge))), std::nullopt);
    EXPECT_EQ(k.op(SymOp::NotEqual, k.x, k.y), k.no(k.equal(k.y, k.x)));
}

TEST(Symbolic, KeepsLogicFlat) {
    Pool k;
    EXPECT_EQ(k.both(k.p, k.both(k.q, k.p)), k.both(k.q, k.p));
    EXPECT_EQ(k.as_bool(k.both(k.p, k.no(k.p))), false);
    EXPECT_EQ(k.as_bool(k.either(k.less(k.x, k.y), k.at_most(k.y, k.x))), true);
    EXPECT_EQ(k.no(k.both(k.p, k.q)), k.either(k.no(k.q), k.no(k.p)));
    EXPECT_EQ(k.no(k.no(k.either(k.p, k.less(k.x, k.y)))), k.either(k.p, k.less(k.x, k.y)));
    EXPECT_EQ(k.both(k.p, k.boolean(true)), k.p);
    EXPECT_EQ(k.op(SymOp::Xor, k.p, k.boolean(true)), k.no(k.p));
    EXPECT_EQ(k.op(SymOp::Xor, k.no(k.p), k.q), k.op(SymOp::Equal, k.q, k.p));
    EXPECT_EQ(k.as_bool(k.op(SymOp::Equal, k.p, k.no(k.p))), false);
    EXPECT_EQ(k.op(SymOp::LessEqual, k.p, k.q), k.either(k.no(k.p), k.q));
}

TEST(Symbolic, Selects) {
    Pool k;
    EXPECT_EQ(*k.select(k.boolean(true), k.x, k.y), k.x);
    EXPECT_EQ(*k.select(k.p, k.x, k.x), k.x);
    EXPECT_EQ(*k.select(k.no(k.p), k.x, k.y), *k.select(k.p, k.y, k.x));
    EXPECT_EQ(*k.select(k.less(k.x, k.y), k.x, k.y), *k.select(k.at_most(k.y, k.x), k.y, k.x));
    EXPECT_EQ(*k.select(k.p, k.boolean(true), k.boolean(false)), k.p);
    EXPECT_EQ(*k.select(k.p, k.q, k.boolean(false)), k.both(k.p, k.q));
    EXPECT_EQ(*k.select(k.p, *k.select(k.p, k.x, k.n), k.y), *k.select(k.p, k.x, k.y));
    EXPECT_EQ(k.range(*k.select(k.p, k.n, k.i(-5))), (Interval{-5, 100}));
    EXPECT_FALSE(k.select(k.p, k.x, k.r));
}

TEST(Symbolic, CastsAndFunctions) {
    Pool k;
    EXPECT_EQ(k.as_int(k.op(SymOp::ToInt, k.real(-2.7))), -2);
    EXPECT_EQ(k.as_int(k.op(SymOp::ToInt, k.real(HUGE_VAL))), std::numeric_limits<int64_t>::max());
    EXPECT_EQ(k.as_int(k.op(SymOp::ToInt, k.real(-HUGE_VAL))), std::numeric_limits<int64_t>::min());
    EXPECT_EQ(k.op(SymOp::ToInt, k.op(SymOp::ToReal, k.n)), k.n);
    EXPECT_NE(k.op(SymOp::ToInt, k.op(SymOp::ToReal, k.x)), k.x);
    EXPECT_EQ(k.op(SymOp::ToBool, k.x), k.op(SymOp::NotEqual, k.x, k.i(0)));
    EXPECT_EQ(k.range(k.op(SymOp::ToInt, k.p)), (Interval{0, 1}));
    EXPECT_EQ(*k.function("abs", k.n), k.n);
    EXPECT_EQ(*k.function("abs", k.sub(k.x, k.y)), *k.function("abs", k.sub(k.y, k.x)));
    EXPECT_EQ(*k.function("sign", k.m), k.i(1));
    EXPECT_EQ(*k.function("sign", k.op(SymOp::Neg, k.x)),
              k.op(SymOp::Neg, *k.function("sign", k.x)));
    EXPECT_EQ(k.as_real(*k.function("floor", k.real(-0.5))), -1.0);
    EXPECT_EQ(k.text(*k.function("exp", k.r)), "exp(r)");
    EXPECT_FALSE(k.function("sqrt", k.x));
    EXPECT_FALSE(k.function("log2", k.r));
    EXPECT_FALSE(k.apply(SymOp::ToInt, k.s));
}

TEST(Symbolic, KeepsTheStructureOfReals) {
    Pool k;
    const SymId one = k.real(1.0);
    EXPECT_EQ(k.as_real(k.op(SymOp::Div, one, k.real(0.0))), HUGE_VAL);
    EXPECT_EQ(k.as_real(k.op(SymOp::Mod, k.real(-7.5), k.real(2.0))), 0.5);
    EXPECT_EQ(k.add(k.r, one), k.add(one, k.r));
    EXPECT_NE(k.add(k.add(k.r, one), one), k.add(k.r, k.real(2.0)));
    EXPECT_EQ(k.as_bool(k.equal(k.r, k.r)), std::nullopt);  // it may be NaN
    EXPECT_EQ(k.as_bool(k.less(k.r, k.r)), false);
    EXPECT_NE(k.real(0.0), k.real(-0.0));
    EXPECT_EQ(k.as_bool(k.equal(k.real(0.0), k.real(-0.0))), true);
    EXPECT_EQ(k.as_string(k.add(k.string("a"), k.string("b"))), "ab");
    EXPECT_EQ(k.as_bool(k.equal(k.s, k.s)), true);
}

TEST(Symbolic, FindsAffineForms) {
    Pool k;
    const auto affine = k.affine_in(k.sub(k.i(7), k.mul(k.i(2), k.x)), k.x);
    ASSERT_TRUE(affine);
    EXPECT_EQ(affine->factor, -2);
    EXPECT_EQ(affine->offset, 7);
    EXPECT_EQ(k.affine_in(k.x, k.x)->factor, 1);
    EXPECT_FALSE(k.affine_in(k.add(k.x, k.y), k.x));
    EXPECT_FALSE(k.affine_in(k.mul(k.x, k.x), k.x));
    EXPECT_FALSE(k.affine_in(k.i(3), k.x));
    EXPECT_FALSE(k.affine_in(k.div(k.x, k.i(2)), k.x));
}

TEST(Symbolic, ListsItsSymbols) {
    Pool k;
    const SymId e = k.add(k.div(k.y, k.i(2)), *k.select(k.less(k.x, k.i(3)), k.n, k.i(1)));
    EXPECT_EQ(k.symbols_of(e), (std::vector{k.n, k.x, k.y}));
    EXPECT_TRUE(k.symbols_of(k.i(3)).empty());
}

TEST(Symbolic, Substitutes) {
    Pool k;
    const SymId e = k.add(k.mul(k.x, k.y), k.div(k.x, k.y));
    EXPECT_EQ(k.as_int(*k.substitute(e, {{k.x, k.i(7)}, {k.y, k.i(2)}})), 17);
    EXPECT_EQ(*k.substitute(e, {{k.y, k.i(1)}}), k.mul(k.i(2), k.x));
    EXPECT_FALSE(k.substitute(e, {{k.y, k.i(0)}}));
    EXPECT_EQ(k.fault(), SymFault::DivisionByZero);
    const SymId guarded = *k.select(k.equal(k.y, k.i(0)), k.i(-1), k.div(k.x, k.y));
    EXPECT_EQ(k.as_int(*k.substitute(guarded, {{k.y, k.i(0)}})), -1);
    const SymId both = k.both(k.op(SymOp::NotEqual, k.y, k.i(0)), k.less(k.i(1), k.div(k.x, k.y)));
    EXPECT_EQ(k.as_bool(*k.substitute(both, {{k.y, k.i(0)}})), false);
    EXPECT_FALSE(k.substitute(k.x, {{k.x, k.r}}));
    // The intermediate result is large, the result small.
    const SymId square = k.sub(k.mul(k.x, k.x), k.mul(k.y, k.y));
    const SymId big = k.i(int64_t{1} << 40);
    EXPECT_EQ(k.as_int(*k.substitute(square, {{k.x, big}, {k.y, big}})), 0);
}

TEST(Symbolic, PrintsReadably) {
    Pool k;
    const SymId n1 = k.add(k.n, k.i(1));
    EXPECT_EQ(k.text(k.add(k.mul(k.i(2), k.n), k.i(1))), "2*n + 1");
    EXPECT_EQ(k.text(k.ceil(k.n, k.i(4))), "(n + 3)/4");
    EXPECT_EQ(k.text(k.min(k.x, k.y)), "min(x, y)");
    EXPECT_EQ(k.text(k.sub(k.i(4), k.n)), "4 - n");
    EXPECT_EQ(k.text(k.op(SymOp::Neg, k.mul(k.i(2), k.n))), "-2*n");
    EXPECT_EQ(k.text(k.mul(k.mul(k.n, k.n), k.m)), "n**2*m");
    EXPECT_EQ(k.text(k.mul(k.i(3), k.div(k.x, k.i(4)))), "3*(x/4)");
    EXPECT_EQ(k.text(k.add(k.div(k.mul(k.i(3), k.x), k.i(4)), k.i(1))), "3*x/4 + 1");
    EXPECT_EQ(k.text(k.mod(n1, k.i(4))), "(n + 1) % 4");
    EXPECT_EQ(k.text(k.div(k.x, k.add(k.y, k.i(1)))), "x/(y + 1)");
    EXPECT_EQ(k.text(k.less(k.x, k.i(5))), "x <= 4");
    EXPECT_EQ(k.text(k.less(k.i(0), k.x)), "x >= 1");
    EXPECT_EQ(k.text(k.at_most(k.x, k.add(k.y, k.i(2)))), "x <= y + 2");
    EXPECT_EQ(k.text(k.equal(k.x, k.i(5))), "x == 5");
    EXPECT_EQ(k.text(k.equal(k.x, k.i(-5))), "x == -5");
    EXPECT_EQ(k.text(k.less(k.i(-9), k.x)), "x >= -8");
    EXPECT_EQ(k.text(k.at_most(k.add(k.x, k.y), k.i(-5))), "x + y <= -5");
    EXPECT_EQ(k.text(k.op(SymOp::NotEqual, k.x, k.mul(k.i(2), k.y))), "x != 2*y");
    EXPECT_EQ(k.text(k.both(k.p, k.no(k.q))), "p && !q");
    EXPECT_EQ(k.text(k.either(k.both(k.p, k.q), k.less(k.x, k.i(5)))), "x <= 4 || (p && q)");
    EXPECT_EQ(k.text(*k.select(k.p, k.x, k.add(k.y, k.i(1)))), "p ? x : y + 1");
    EXPECT_EQ(k.text(k.add(*k.select(k.p, k.x, k.y), k.i(1))), "(p ? x : y) + 1");
    EXPECT_EQ(k.text(k.op(SymOp::Sub, k.r, k.op(SymOp::Sub, k.r, k.real(2.0)))), "r - (r - 2.0)");
    EXPECT_EQ(k.text(k.op(SymOp::Pow, k.x, k.y)), "x**y");
    EXPECT_EQ(k.text(k.add(k.s, k.string("it's"))), "s + 'it\\'s'");
    EXPECT_EQ(k.text(k.op(SymOp::ToReal, n1)), "real(n + 1)");
    EXPECT_EQ(real_text(1e300), "1e+300");
    EXPECT_EQ(real_text(0.1), "0.1");
    EXPECT_EQ(real_text(-HUGE_VAL), "-inf");
}

// The order in which parts are created does not matter.
TEST(Symbolic, ReadsTheSameHoweverItCameAbout) {
    Pool k, l;
    l.div(l.y, l.i(3));  // created early here
    l.mul(l.y, l.x);
    l.sub(l.y, l.n);
    const auto texts = [](Pool& pool) {
        const SymId quotient = pool.div(pool.sub(pool.y, pool.n), pool.i(3));
        const SymId product = pool.mul(pool.add(pool.x, pool.n), pool.sub(pool.x, pool.y));
        const SymId smaller = pool.min(pool.div(pool.x, pool.i(3)), pool.div(pool.y, pool.i(3)));
        return std::vector{pool.text(quotient),
                           pool.text(product),
                           pool.text(smaller),
                           pool.text(pool.less(product, quotient))};
    };
    EXPECT_EQ(texts(k), texts(l));
}

// The ends of an interval that mean "no bound" are also numbers.
TEST(Symbolic, TakesTheExtremesForNumbers) {
    Pool k;
    const SymId least = k.i(std::numeric_limits<int64_t>::min());
    const SymId most = k.i(std::numeric_limits<int64_t>::max());
    EXPECT_FALSE(k.is_constant(k.min(k.add(k.x, least), k.y)));
    EXPECT_EQ(
        k.range(k.add(k.n, least)),
        (Interval{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::min() + 100}));
    EXPECT_FALSE(k.is_constant(k.ceil(most, k.min(k.x, k.i(-8)))));
    EXPECT_EQ(k.min(k.x, least), least);
    EXPECT_EQ(k.max(k.x, most), most);
}

// ---- limits -----------------------------------------------------------------------------------

TEST(Symbolic, TakesLongSums) {
    Pool k;
    SymId total = k.x;
    for (int i = 0; i < 100'000; ++i) total = k.add(total, k.x);
    EXPECT_EQ(total, k.mul(k.i(100'001), k.x));

    SymId many = k.i(0);
    std::vector<SymId> symbols;
    for (int i = 0; i < 2'000; ++i) {
        symbols.push_back(k.symbol("v", ScalarType::Int, {0, 1}));
        many = k.add(many, symbols.back());
    }
    EXPECT_EQ(k.symbols_of(many).size(), 2'000u);
    // In one step, without intermediate nodes.
    const size_t before = k.size();
    EXPECT_EQ(k.symbols_of(*k.apply(SymOp::Add, symbols)).size(), 2'000u);
    EXPECT_LT(k.size(), before + 100);
    std::unordered_map<SymId, SymId, IdHash> ones;
    for (const SymId id : symbols) ones.emplace(id, k.i(1));
    EXPECT_EQ(k.as_int(*k.substitute(many, ones)), 2'000);
}

TEST(Symbolic, DoesNotExpandPastTheLimits) {
    Pool k;
    SymId sum = k.x;
    for (int i = 0; i < 20; ++i) sum = k.add(sum, k.symbol("v", ScalarType::Int));
    SymId product = sum;
    for (int i = 0; i < 200; ++i) product = k.mul(product, sum);
    EXPECT_LT(k.size(), 5'000u);
    const SymId power = k.op(SymOp::Pow, k.x, k.i(40));
    EXPECT_EQ(k.text(power), "x**40");
    EXPECT_EQ(k.as_int(*k.substitute(power, {{k.x, k.i(2)}})), int64_t{1} << 40);
    EXPECT_FALSE(k.substitute(k.op(SymOp::Pow, k.x, k.i(100)), {{k.x, k.i(2)}}));
}

TEST(Symbolic, BoundsTheDepth) {
    Pool k;
    SymId e = k.x;
    int depth = 0;
    while (const auto next = k.apply(SymOp::Div, k.y, e)) {
        e = *next;
        ASSERT_LT(++depth, 10'000);
    }
    EXPECT_EQ(k.fault(), SymFault::TooDeep);
    EXPECT_EQ(k.symbols_of(e).size(), 2u);
    EXPECT_EQ(k.as_int(*k.substitute(e, {{k.x, k.i(1)}, {k.y, k.i(1)}})), 1);
    EXPECT_LT(k.text(e).size(), 5'000u);
}

TEST(Symbolic, CutsTextsOfSharedExpressions) {
    Pool k;
    SymId e = k.x;
    for (int i = 0; i < 200; ++i) e = k.max(k.div(e, k.i(3)), k.div(k.y, e));
    EXPECT_LT(k.text(e).size(), 5'000u);
    EXPECT_TRUE(k.text(e).ends_with("…"));
}

}  // namespace
}  // namespace lemma::ir
