// SPDX-License-Identifier: Apache-2.0
// More functions of floats, for devices, which have no library. They are computed in doubles and
// rounded once, to 0.6 units in the last place; wide_math_test.cpp measures them.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>

#include "loop/schedule/device/wide_math.h"

namespace lemma::loop {

namespace {

class WideMath {
public:
    WideMath(Builder& build, ExprId x) : b_(build), x_(b_.cast(x, Kind::F64)) {}

    ExprId sine(int quarters);
    ExprId tan();
    ExprId asin();
    ExprId acos();
    ExprId atan() { return arc(x_); }
    ExprId sinh();
    ExprId cosh();
    ExprId asinh();
    ExprId acosh();
    ExprId atanh();

private:
    // x as quarters of a turn and a rest of at most half a quarter, in radians.
    struct Turn {
        ExprId quarters, rest;
    };
    Turn turn();
    ExprId sine_of(const Turn& turn, int quarters);
    ExprId arc(ExprId x);
    ExprId exp(ExprId x);
    ExprId log(ExprId x);

    ExprId number(double value) { return b_.real(value, Kind::F64); }
    ExprId fma(ExprId a, ExprId b, ExprId c) { return b_.make(Op::Fma, {a, b, c}); }
    ExprId mul(ExprId a, ExprId b) { return b_.make(Op::Mul, {a, b}); }
    ExprId add(ExprId a, ExprId b) { return b_.make(Op::Add, {a, b}); }
    ExprId sub(ExprId a, ExprId b) { return b_.make(Op::Sub, {a, b}); }
    ExprId div(ExprId a, ExprId b) { return b_.make(Op::Div, {a, b}); }
    ExprId of(Op op, ExprId a) { return b_.make(op, {a}); }
    ExprId less(ExprId a, ExprId b) { return b_.make(Op::Less, {a, b}); }
    ExprId signed_like_x(ExprId a) { return b_.make(Op::CopySign, {a, x_}); }
    // From the highest power down.
    ExprId polynomial(ExprId x, std::initializer_list<double> coefficients) {
        ExprId sum;
        for (const double c : coefficients) sum = sum.valid() ? fma(sum, x, number(c)) : number(c);
        return sum;
    }

    Builder& b_;
    ExprId x_;
};

// ---- Turns --------------------------------------------------------------------------------------

// The digits of 2 / pi in parts of 24 bits. A product with a float is exact, and so is its rest
// after whole turns. The rests are added from the largest part on. After each, whole quarters leave
// the sum, so that a small rest of a large number has all its digits.
WideMath::Turn WideMath::turn() {
    constexpr int kParts[] = {
        0xA2F983, 0x6E4E44, 0x1529FC, 0x2757D1, 0xF534DD, 0xC0DB62, 0x95993C, 0x439041, 0xFE5163};
    Turn result{number(0), number(0)};
    int power = 0;
    for (const int part : kParts) {
        power -= 24;
        const ExprId product = mul(x_, number(std::ldexp(part, power)));
        const ExprId turns = of(Op::Rint, mul(product, number(0.25)));
        const ExprId sum = add(result.rest, fma(turns, number(-4), product));
        const ExprId whole = of(Op::Rint, sum);
        result = {add(result.quarters, whole), sub(sum, whole)};
    }
    result.rest = mul(result.rest, number(std::numbers::pi / 2));
    return result;
}

// The sine, so many quarters of a turn ahead.
ExprId WideMath::sine_of(const Turn& turn, int quarters) {
    const ExprId square = mul(turn.rest, turn.rest);
    const ExprId sine = fma(
        mul(turn.rest, square),
        polynomial(
            square,
            {1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6}),
        turn.rest);
    const ExprId cosine = polynomial(
        square, {1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1});
    const ExprId ahead = quarters == 0 ? turn.quarters : add(turn.quarters, number(quarters));
    const ExprId quarter = fma(of(Op::Floor, mul(ahead, number(0.25))), number(-4), ahead);
    const ExprId half = fma(of(Op::Floor, mul(quarter, number(0.5))), number(-2), quarter);
    const ExprId size = b_.select(b_.make(Op::Equal, {half, number(0)}), sine, cosine);
    return b_.select(less(quarter, number(1.5)), size, of(Op::Neg, size));
}

// A zero keeps its sign.
ExprId WideMath::sine(int quarters) {
    const ExprId value = sine_of(turn(), quarters);
    if (quarters != 0) return value;
    return b_.select(b_.make(Op::Equal, {x_, number(0)}), x_, value);
}

ExprId WideMath::tan() {
    const Turn all = turn();
    const ExprId value = div(sine_of(all, 0), sine_of(all, 1));
    return b_.select(b_.make(Op::Equal, {x_, number(0)}), x_, value);
}

// atan of |x|: of 1 / |x| above 1, and then of (t - 1) / (t + 1) above tan(pi / 8).
ExprId WideMath::arc(ExprId x) {
    const ExprId size = of(Op::Abs, x), one = number(1);
    const ExprId large = less(one, size);
    const ExprId t = b_.select(large, div(one, size), size);
    const ExprId steep = less(number(0.41421356237309503), t);
    const ExprId u = b_.select(steep, div(sub(t, one), add(t, one)), t);
    const ExprId square = mul(u, u);
    const ExprId p = polynomial(square,
                                {1.62858201153657823623e-02,
                                 -3.65315727442169155270e-02,
                                 4.97687799461593236017e-02,
                                 -5.83357013379057348645e-02,
                                 6.66107313738753120669e-02,
                                 -7.69187620504482999495e-02,
                                 9.09088713343650656196e-02,
                                 -1.11111104054623557880e-01,
                                 1.42857142725034663711e-01,
                                 -1.99999999998764832476e-01,
                                 3.33333333333329318027e-01});
    const ExprId small = sub(u, mul(mul(u, square), p));
    const ExprId value = b_.select(steep, add(small, number(std::numbers::pi / 4)), small);
    const ExprId full = b_.select(large, sub(number(std::numbers::pi / 2), value), value);
    return b_.make(Op::CopySign, {full, x});
}

ExprId WideMath::asin() {
    const ExprId one = number(1);
    return arc(div(x_, of(Op::Sqrt, mul(sub(one, x_), add(one, x_)))));
}

ExprId WideMath::acos() { return sub(number(std::numbers::pi / 2), asin()); }

// ---- Hyperbolic functions -----------------------------------------------------------------------

// 2^n * e^r, of |x| < 170. The power has two factors that are floats.
ExprId WideMath::exp(ExprId x) {
    const ExprId n = of(Op::Rint, mul(x, number(std::numbers::log2e)));
    const ExprId r =
        fma(n, number(-1.90821492927058770002e-10), fma(n, number(-6.93147180369123816490e-01), x));
    const ExprId power = polynomial(r,
                                    {1.0 / 39916800,
                                     1.0 / 3628800,
                                     1.0 / 362880,
                                     1.0 / 40320,
                                     1.0 / 5040,
                                     1.0 / 720,
                                     1.0 / 120,
                                     1.0 / 24,
                                     1.0 / 6,
                                     0.5,
                                     1,
                                     1});
    const ExprId half = of(Op::Floor, mul(n, number(0.5)));
    const auto two_to = [&](ExprId k) {
        const ExprId one = b_.real(1, Kind::F32);
        return b_.cast(b_.make(Op::Scale, {one, b_.cast(k, Kind::F32)}), Kind::F64);
    };
    return mul(mul(power, two_to(half)), two_to(sub(n, half)));
}

// Of a positive number inside the range of floats: that of the float next to it, and the rest. Near
// one, it has all digits.
ExprId WideMath::log(ExprId x) {
    const ExprId near = b_.cast(x, Kind::F32);
    const ExprId exact = b_.cast(near, Kind::F64);
    const ExprId e = b_.cast(b_.make(Op::Exponent, {near}), Kind::F64);
    const ExprId m = b_.cast(b_.make(Op::Mantissa, {near}), Kind::F64);
    const ExprId s = div(sub(m, number(1)), add(m, number(1)));
    const ExprId square = mul(s, s);
    const ExprId p = polynomial(
        square, {2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3});
    const ExprId value = fma(e, number(std::numbers::ln2), fma(mul(s, square), p, add(s, s)));
    const ExprId rest = div(sub(x, exact), exact);
    return add(value, sub(rest, mul(mul(rest, rest), number(0.5))));
}

ExprId WideMath::sinh() {
    const ExprId size = b_.make(Op::Min, {of(Op::Abs, x_), number(100)});
    const ExprId square = mul(x_, x_);
    const ExprId small =
        fma(mul(x_, square),
            polynomial(square, {1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6}),
            x_);
    const ExprId power = exp(size);
    const ExprId large = mul(sub(power, div(number(1), power)), number(0.5));
    return b_.select(less(size, number(0.5)), small, signed_like_x(large));
}

ExprId WideMath::cosh() {
    const ExprId power = exp(b_.make(Op::Min, {of(Op::Abs, x_), number(100)}));
    return mul(add(power, div(number(1), power)), number(0.5));
}

ExprId WideMath::asinh() {
    const ExprId size = of(Op::Abs, x_), square = mul(x_, x_);
    const ExprId small =
        fma(mul(x_, square),
            polynomial(square, {-945.0 / 42240, 105.0 / 3456, -15.0 / 336, 3.0 / 40, -1.0 / 6}),
            x_);
    const ExprId far = less(number(1e9), size);
    const ExprId root = of(Op::Sqrt, fma(size, size, number(1)));
    const ExprId value = log(b_.select(far, size, add(size, root)));
    const ExprId large = b_.select(far, add(value, number(std::numbers::ln2)), value);
    const ExprId finite = less(size, number(HUGE_VAL));
    const ExprId whole = b_.select(finite, signed_like_x(large), x_);
    return b_.select(less(size, number(0.06)), signed_like_x(small), whole);
}

// Below one there is none.
ExprId WideMath::acosh() {
    const ExprId one = number(1), above = sub(x_, one);
    const ExprId far = less(number(1e9), x_);
    const ExprId root = of(Op::Sqrt, mul(above, add(x_, one)));
    const ExprId value = log(b_.select(far, x_, add(one, add(above, root))));
    const ExprId large = b_.select(far, add(value, number(std::numbers::ln2)), value);
    const ExprId whole = b_.select(less(x_, number(HUGE_VAL)), large, x_);
    return b_.select(b_.make(Op::LessEqual, {one, x_}), whole, number(std::nan("")));
}

ExprId WideMath::atanh() {
    const ExprId one = number(1), size = of(Op::Abs, x_), square = mul(x_, x_);
    const ExprId small = fma(
        mul(x_, square), polynomial(square, {1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3}), x_);
    const ExprId below = less(size, one);
    const ExprId quotient = div(add(one, size), b_.select(below, sub(one, size), one));
    const ExprId value = signed_like_x(mul(log(quotient), number(0.5)));
    const ExprId end = signed_like_x(number(HUGE_VAL));
    const ExprId beyond = b_.select(b_.make(Op::Equal, {size, one}), end, number(std::nan("")));
    return b_.select(less(size, number(0.06)), small, b_.select(below, value, beyond));
}

}  // namespace

bool is_expanded_wide(std::string_view name) {
    constexpr std::string_view kNames[] = {
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh"};
    return std::ranges::find(kNames, name) != std::end(kNames);
}

ExprId expand_wide(Builder& build, std::string_view name, ExprId x) {
    WideMath math(build, x);
    const auto value = [&]() -> ExprId {
        if (name == "sin") return math.sine(0);
        if (name == "cos") return math.sine(1);
        if (name == "tan") return math.tan();
        if (name == "asin") return math.asin();
        if (name == "acos") return math.acos();
        if (name == "atan") return math.atan();
        if (name == "sinh") return math.sinh();
        if (name == "cosh") return math.cosh();
        if (name == "asinh") return math.asinh();
        if (name == "acosh") return math.acosh();
        if (name == "atanh") return math.atanh();
        return {};
    }();
    return value.valid() ? build.cast(value, Kind::F32) : value;
}

}  // namespace lemma::loop
