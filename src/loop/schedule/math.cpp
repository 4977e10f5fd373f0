// SPDX-License-Identifier: Apache-2.0
// Functions of floats as a few operations each, with the same results on every machine.
// docs/numerics.md lists their largest errors, tests/engine_test.cpp measures them. The
// coefficients are minimax fits of the named parts.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <unordered_set>

#include "loop/schedule/lowering.h"
#include "loop/stage/powers.h"

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
    ExprId nearest(ExprId x, double factor);
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

// The nearest integer, of |x| < 2^22: the sum with the large number has no digits behind the point.
ExprId Math::nearest(ExprId x, double factor) {
    const ExprId large = number(12582912);  // 1.5 * 2^23
    const ExprId sum = factor == 1 ? add(x, large) : fma(x, number(factor), large);
    return b_.make(Op::Sub, {sum, large});
}

// e^r with |r| <= ln(2) / 2.
ExprId Math::small_exp(ExprId r) {
    return polynomial(
        r, {0.001381431744, 0.008368851036, 0.04166840113, 0.1666651952, 0.4999999337, 1, 1});
}

// 2^n * e^r with |r| <= ln(2) / 2; beyond the limits the result is 0 or infinity. Scaling does not
// produce the zero: it would pass through subnormal numbers, which slow a processor down a hundred
// times, and attention masks are full of them. Nan counts.
ExprId Math::exp(ExprId x) {
    const ExprId counts =
        b_.make(Op::Not, {less(x, -103.97208)});  // not below half of the smallest number
    x = b_.select(counts, b_.make(Op::Min, {x, number(89)}), number(0));
    const ExprId n = nearest(x, 1.44269504088896341);
    ExprId r = fma(n, number(-0.693359375), x);
    r = fma(n, number(2.12194440054690583e-4), r);
    return b_.select(counts, b_.make(Op::Scale, {small_exp(r), n}), number(0));
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
    const ExprId positive = b_.select(less(x_, HUGE_VAL), value, x_);
    const ExprId zero = b_.make(Op::Equal, {x_, number(0)});
    const ExprId other = b_.select(zero, number(-HUGE_VAL), number(std::nan("")));
    return b_.select(b_.make(Op::Less, {number(0), x_}), positive, other);
}

// x + x^3 * p(x²) near zero, 1 - 2 / (exp(2 * |x|) + 1) beyond. From 9.1 on the result is 1.
ExprId Math::tanh() {
    const ExprId size = b_.make(Op::Abs, {x_});
    const ExprId square = mul(x_, x_);
    const ExprId p = polynomial(
        square, {-0.00570498947, 0.02063908952, -0.0537397158, 0.1333144221, -0.3333328194});
    const ExprId small = fma(mul(x_, square), p, x_);
    const ExprId limited = b_.make(Op::Min, {size, number(9.1)});
    const ExprId n = nearest(limited, 2.88539008177792681);
    const ExprId r = fma(n, number(-0.34657359027997264), limited);
    const ExprId raised =
        polynomial(r, {0.08839788327, 0.2677995276, 0.6666947336, 1.333321638, 1.999999734, 2, 1});
    const ExprId divisor = add(b_.make(Op::Scale, {raised, n}), number(1));
    const ExprId quotient = b_.make(Op::Div, {number(-2), divisor});
    const ExprId large = b_.make(Op::CopySign, {add(quotient, number(1)), x_});
    return b_.select(less(size, 0.625), small, large);
}

// x + x * p(x²) near zero, 1 - 2^q(|x|) beyond. From 4 on the result is 1.
ExprId Math::erf() {
    const ExprId size = b_.make(Op::Min, {b_.make(Op::Abs, {x_}), number(4)});
    const ExprId p = polynomial(mul(x_, x_),
                                {-0.000586207995,
                                 0.004967506294,
                                 -0.02674886381,
                                 0.1128132067,
                                 -0.3761244593,
                                 0.1283791423});
    const ExprId small = fma(x_, p, x_);
    const ExprId q = polynomial(size,
                                {0.0002776097499,
                                 -0.004340379252,
                                 0.0318656441,
                                 -0.149521207,
                                 -0.9197428229,
                                 -1.626602457,
                                 -0.0003530737871});
    const ExprId n = nearest(q, 1);
    const ExprId power = polynomial(
        b_.make(Op::Sub, {q, n}),
        {0.001341009768, 0.00967610605, 0.05550297023, 0.2402210607, 0.6931472256, 1.000000076});
    const ExprId rest = b_.make(Op::Sub, {number(1), b_.make(Op::Scale, {power, n})});
    return b_.select(less(size, 0.95), small, b_.make(Op::CopySign, {rest, x_}));
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
    if (const Expr& e = b_[y]; e.op == Op::Constant) {
        if (const ExprId simple = simple_power(b_, x_, e.real); simple.valid()) return simple;
    }
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

// The remainder of the first quotient is exact. A divisor whose reciprocal would be subnormal or
// infinite is scaled, and x as well. Infinite quotients and zeros have no remainder to add.
ExprId quotient_of_many(Builder& build, ExprId x, ExprId divisor) {
    const auto number = [&](double value) { return build.real(value, Kind::F32); };
    const auto less = [&](ExprId a, ExprId b) { return build.make(Op::Less, {a, b}); };
    const auto mul = [&](ExprId a, ExprId b) { return build.make(Op::Mul, {a, b}); };
    const ExprId size = build.make(Op::Abs, {divisor});
    const ExprId large = less(number(0x1p126), size);
    const ExprId scale = build.select(less(size, number(0x1p-126)),
                                      number(0x1p64),
                                      build.select(large, number(0x1p-64), number(1)));
    const ExprId by = mul(divisor, scale);
    const ExprId reciprocal = build.make(Op::Div, {number(1), by});
    const ExprId scaled = mul(x, scale);
    const ExprId near = mul(scaled, reciprocal);
    const ExprId rest = build.make(Op::Fma, {near, build.make(Op::Neg, {by}), scaled});
    ExprId better = build.make(Op::Fma, {rest, reciprocal, near});
    better = build.make(Op::CopySign, {better, near});
    return build.select(build.make(Op::Equal, {better, better}), better, near);
}

bool may_multiply_quotients(const Stage& stage,
                            const StagePool& pool,
                            const Target& target,
                            int64_t together) {
    constexpr int64_t kVectorsWithFma = 32;  // bytes
    constexpr int64_t kLeastVectors = 8;     // the reciprocal takes as long as a few quotients
    if (pool.strict || target.vector_bytes < kVectorsWithFma) return false;
    if (together < kLeastVectors * target.lanes()) return false;
    bool whole = false, divides = false;
    std::unordered_set<ExprId, IdHash> seen;
    std::vector<ExprId> work;
    for_each_value(stage, [&](ExprId value) { work.push_back(value); });
    while (!work.empty()) {
        const ExprId id = work.back();
        work.pop_back();
        if (!id.valid() || !seen.insert(id).second) continue;
        const Expr& e = pool[id];
        const bool real = !e.args.empty() && e.args[0].valid() && pool[e.args[0]].type.real();
        whole |= e.op == Op::Rint || e.op == Op::Round || e.op == Op::Floor || e.op == Op::Ceil ||
                 e.op == Op::Trunc || e.op == Op::Mod || (real && !e.type.real());
        divides |= e.op == Op::Div && e.type.kind == Kind::F32;
        work.insert(work.end(), e.args.begin(), e.args.end());
    }
    return divides && !whole;
}

}  // namespace lemma::loop
