// SPDX-License-Identifier: Apache-2.0
// Functions of floats as a few operations each, with the same results on every machine.
// docs/numerics.md lists their largest errors, tests/engine_test.cpp measures them. The
// coefficients are Chebyshev fits of the named parts.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "loop/schedule/lowering.h"

namespace lemma::loop {

namespace {

class Math {
public:
    Math(Builder& build, ExprId x) : b_(build), x_(x) {}

    ExprId exp(ExprId x);
    ExprId log();
    ExprId tanh();
    ExprId erf();
    ExprId pow(ExprId y);

private:
    ExprId small_exp(ExprId r);
    ExprId wide_log(ExprId size);
    ExprId number(double value) { return b_.real(value, Kind::F32); }
    ExprId fma(ExprId a, ExprId b, ExprId c) { return b_.make(Op::Fma, {a, b, c}); }
    ExprId mul(ExprId a, ExprId b) { return b_.make(Op::Mul, {a, b}); }
    ExprId add(ExprId a, ExprId b) { return b_.make(Op::Add, {a, b}); }
    ExprId less(ExprId a, double b) { return b_.make(Op::Less, {a, number(b)}); }
    // From the highest power down.
    ExprId polynomial(ExprId x, std::initializer_list<double> coefficients) {
        ExprId sum;
        for (const double c : coefficients) {
            sum = sum.valid() ? fma(sum, x, number(c)) : number(c);
        }
        return sum;
    }

    Builder& b_;
    ExprId x_;
};

// e^r with |r| <= ln(2) / 2.
ExprId Math::small_exp(ExprId r) {
    const ExprId p = polynomial(r,
                                {0.0001989126851,
                                 0.001393390005,
                                 0.008333310675,
                                 0.04166646267,
                                 0.1666666668,
                                 0.5000000014});
    return add(fma(mul(r, r), p, r), number(1));
}

// 2^n * e^r with |r| <= ln(2) / 2; beyond the limits the result is 0 or infinity. Scaling does not
// produce the zero: it would pass through subnormal numbers, which slow a processor down a hundred
// times, and attention masks are full of them.
ExprId Math::exp(ExprId x) {
    const ExprId vanishes = less(x, -103.97208);  // below half of the smallest number
    x = b_.make(Op::Min, {x, number(89)});
    x = b_.select(vanishes, number(0), x);
    const ExprId n = b_.make(Op::Rint, {mul(x, number(1.44269504088896341))});
    ExprId r = fma(n, number(-0.693359375), x);
    r = fma(n, number(2.12194440054690583e-4), r);
    const ExprId value = small_exp(r);
    return b_.select(vanishes, number(0), b_.make(Op::Scale, {value, n}));
}

// e * ln(2) + ln(1 + f); subnormal numbers are first multiplied by 2^23.
ExprId Math::log() {
    const ExprId tiny = less(x_, 1.17549435e-38);
    const ExprId normal = b_.select(tiny, mul(x_, number(8388608)), x_);
    const ExprId e = add(b_.make(Op::Exponent, {normal}), b_.select(tiny, number(-23), number(0)));
    const ExprId f = add(b_.make(Op::Mantissa, {normal}), number(-1));
    const ExprId p = polynomial(f,
                                {0.06972518634,
                                 -0.1148121206,
                                 0.1168578472,
                                 -0.1242552336,
                                 0.1424900724,
                                 -0.1666780713,
                                 0.2000071721,
                                 -0.2499999693,
                                 0.3333333117});
    const ExprId square = mul(f, f);
    ExprId y = mul(mul(f, square), p);
    y = fma(e, number(-2.12194440054690583e-4), y);
    y = fma(square, number(-0.5), y);
    const ExprId value = fma(e, number(0.693359375), add(f, y));
    // Infinity and nan stay; 0 gives minus infinity, negative numbers have no logarithm.
    const ExprId finite = b_.make(Op::Less, {x_, number(HUGE_VAL)});
    const ExprId positive = b_.make(Op::Less, {number(0), x_});
    const ExprId zero = b_.make(Op::Equal, {x_, number(0)});
    const ExprId other =
        b_.select(zero, number(-HUGE_VAL), b_.select(less(x_, 0), number(std::nan("")), x_));
    return b_.select(b_.make(Op::And, {finite, positive}), value, other);
}

ExprId Math::tanh() {
    const ExprId size = b_.make(Op::Abs, {x_});
    const ExprId square = mul(x_, x_);
    const ExprId p = polynomial(square,
                                {0.00222088801,
                                 -0.008278154461,
                                 0.02174806416,
                                 -0.05395659826,
                                 0.1333329188,
                                 -0.3333333309});
    const ExprId small = fma(mul(x_, square), p, x_);
    const ExprId raised = add(exp(add(size, size)), number(1));
    const ExprId quotient = b_.make(Op::Div, {number(-2), raised});
    const ExprId large = b_.make(Op::CopySign, {add(quotient, number(1)), x_});
    return b_.select(less(size, 0.625), small, large);
}

// x * p(x²) near zero, 1 - exp(q(|x|)) beyond.
ExprId Math::erf() {
    const ExprId size = b_.make(Op::Min, {b_.make(Op::Abs, {x_}), number(4.1)});
    const ExprId square = mul(x_, x_);
    const ExprId p = polynomial(square,
                                {-9.667044571e-6,
                                 0.0001126595903,
                                 -0.0008484080406,
                                 0.005221031808,
                                 -0.02686543073,
                                 0.112837825,
                                 -0.3761263847,
                                 0.1283791671});
    const ExprId small = fma(x_, p, x_);
    const ExprId q = polynomial(size,
                                {1.596136339e-6,
                                 -4.52721028e-5,
                                 0.0005903968305,
                                 -0.004730605344,
                                 0.02634170539,
                                 -0.1099453165,
                                 -0.6319641689,
                                 -1.130155305,
                                 0.00030145982});
    const ExprId rest = b_.make(Op::Neg, {exp(q)});
    const ExprId large = b_.make(Op::CopySign, {add(rest, number(1)), x_});
    return b_.select(less(size, 1), small, large);
}

// In doubles, to 2^-35: e * ln(2) + 2 * atanh((m - 1) / (m + 1)), of a positive, finite number.
ExprId Math::wide_log(ExprId size) {
    const ExprId tiny = less(size, 1.17549435e-38);
    const ExprId normal = b_.select(tiny, mul(size, number(8388608)), size);
    const ExprId e = add(b_.make(Op::Exponent, {normal}), b_.select(tiny, number(-23), number(0)));
    const ExprId m = b_.cast(b_.make(Op::Mantissa, {normal}), Kind::F64);
    const auto wide = [&](double value) { return b_.real(value, Kind::F64); };
    const ExprId s = b_.make(Op::Div, {add(m, wide(-1)), add(m, wide(1))});
    const ExprId square = mul(s, s);
    ExprId p = wide(2.0 / 13);
    for (const double odd : {11.0, 9.0, 7.0, 5.0, 3.0}) p = fma(p, square, wide(2 / odd));
    const ExprId small = fma(mul(s, square), p, add(s, s));
    return fma(b_.cast(e, Kind::F64), wide(0.693147180559945309), small);
}

// e^(y * ln|x|) with the exponent in doubles, then the cases of signs and of the ends of the range.
ExprId Math::pow(ExprId y) {
    const auto equal = [&](ExprId a, ExprId b) { return b_.make(Op::Equal, {a, b}); };
    const auto both = [&](ExprId a, ExprId b) { return b_.make(Op::And, {a, b}); };
    const auto wide = [&](double value) { return b_.real(value, Kind::F64); };
    const ExprId size = b_.make(Op::Abs, {x_});
    ExprId log = wide_log(size);
    log = b_.select(equal(size, number(HUGE_VAL)), wide(HUGE_VAL), log);
    log = b_.select(equal(size, number(0)), wide(-HUGE_VAL), log);
    ExprId t = mul(b_.cast(y, Kind::F64), log);
    t = b_.make(Op::Max, {b_.make(Op::Min, {t, wide(89)}), wide(-104.5)});
    const ExprId n = b_.make(Op::Rint, {mul(t, wide(1.44269504088896341))});
    const ExprId r = b_.cast(fma(n, wide(-0.693147180559945309), t), Kind::F32);
    const ExprId raised = small_exp(r);
    ExprId value = b_.make(Op::Scale, {raised, b_.cast(n, Kind::F32)});
    const ExprId one = number(1);
    value = b_.select(equal(size, one), one, value);
    // Negative numbers need whole exponents; odd ones keep the sign.
    const ExprId whole = equal(b_.make(Op::Rint, {y}), y);
    const ExprId half = mul(y, number(0.5));
    const ExprId odd = both(whole, b_.make(Op::NotEqual, {b_.make(Op::Rint, {half}), half}));
    value = b_.select(odd, b_.make(Op::CopySign, {value, x_}), value);
    const ExprId negative = both(less(x_, 0), less(size, HUGE_VAL));
    value = b_.select(both(negative, b_.make(Op::Not, {whole})), number(std::nan("")), value);
    const ExprId unknown =
        b_.make(Op::Or, {b_.make(Op::NotEqual, {x_, x_}), b_.make(Op::NotEqual, {y, y})});
    value = b_.select(unknown, number(std::nan("")), value);
    return b_.select(b_.make(Op::Or, {equal(y, number(0)), equal(x_, one)}), one, value);
}

}  // namespace

bool is_expanded(std::string_view name) {
    constexpr std::string_view kNames[] = {"exp", "log", "tanh", "erf", "pow"};
    return std::ranges::find(kNames, name) != std::end(kNames);
}

ExprId expand_function(Builder& build, const std::string& name, const std::vector<ExprId>& args) {
    Math math(build, args[0]);
    if (name == "exp") return math.exp(args[0]);
    if (name == "log") return math.log();
    if (name == "tanh") return math.tanh();
    if (name == "erf") return math.erf();
    if (name == "pow") return math.pow(args[1]);
    return {};
}

}  // namespace lemma::loop
