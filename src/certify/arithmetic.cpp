// SPDX-License-Identifier: Apache-2.0
#include "certify/arithmetic.h"

#include <algorithm>

#include "tensor/tensor.h"

namespace lemma::certify {

namespace {

// gcc 12 drops both conversions where it vectorises two of them.
[[gnu::noinline]] double to_float(double x) { return static_cast<double>(static_cast<float>(x)); }

struct Bounds {
    double low, high;
};

Bounds product(double a_low, double a_high, double b_low, double b_high) {
    if (b_low == b_high) {
        const double x = a_low * b_low, y = a_high * b_low;
        return b_low < 0 ? Bounds{y, x} : Bounds{x, y};
    }
    if (a_low == a_high) return product(b_low, b_high, a_low, a_high);
    const double p = a_low * b_low, q = a_low * b_high, r = a_high * b_low, s = a_high * b_high;
    return {std::min(std::min(p, q), std::min(r, s)), std::max(std::max(p, q), std::max(r, s))};
}

Bounds quotient(double a_low, double a_high, double b_low, double b_high) {
    const double p = a_low / b_low, q = a_low / b_high, r = a_high / b_low, s = a_high / b_high;
    return {std::min(std::min(p, q), std::min(r, s)), std::max(std::max(p, q), std::max(r, s))};
}

bool is_unit(const Value& v) { return v.is_point() && (std::fabs(v.low) == 1 || v.low == 0); }
bool is_zero(const Value& v) { return v.clow == 0 && v.chigh == 0; }
bool zero_inside(double low, double high) { return low <= 0 && high >= 0; }
bool may_be_zero(const Value& v) {
    return zero_inside(v.low, v.high) || zero_inside(v.clow, v.chigh);
}
bool may_rise(const Value& v) { return v.high == kInfinity || v.chigh == kInfinity; }
bool may_fall(const Value& v) { return v.low == -kInfinity || v.clow == -kInfinity; }
bool may_be_infinite(const Value& v) { return may_rise(v) || may_fall(v); }

// The relative error of a product of two factors that are off by a and b.
double both(double a, double b) { return up(up(a + b) + up(a * b)); }

}  // namespace

// ---- Rounding -----------------------------------------------------------------------------------

Value Arithmetic::rounded(Value v, bool finite_operands, bool exact, bool underflows) {
    const double size = v.computed_size();
    if (!precision_.rounds) {
        v.grid = Grid::None;
        return sealed(v);
    }
    if (precision_.in_float) {
        v.clow = to_float(v.clow);
        v.chigh = to_float(v.chigh);
        v.grid = Grid::F32;
    }
    if (!(v.computed_size() <= precision_.largest)) {
        const Range range{v.clow, v.chigh};
        events_->meet(
            Hazard::Overflow, finite_operands, range, "a result beyond the largest number");
        v.error = kInfinity;
        v.relative = v.tiny = kInfinity;
        return sealed(v);
    }
    if (exact) return sealed(v);
    const double least = underflows ? precision_.least_normal : 0;
    v.error = up(v.error + precision_.unit * power_below(std::max(size, least)));
    v.relative = both(v.relative, precision_.unit);
    if (underflows) v.tiny = up(v.tiny * (1 + precision_.unit) + precision_.unit * least);
    return sealed(v);
}

// At least one operand may be infinite or NaN; `invalid`: the operation then may give NaN.
Value Arithmetic::not_finite(
    Value v, const Value& a, const Value& b, bool invalid, const char* reason) {
    if (invalid) events_->meet(Hazard::Invalid, false, {a.clow, a.chigh}, reason);
    if (invalid || a.nan || b.nan) return Value::top();
    v = sealed(v);
    const bool same = v.low == v.high && v.clow == v.chigh && v.low == v.clow;
    v.error = v.relative = v.tiny = same ? 0 : kInfinity;
    return v;
}

Value Arithmetic::constant(double x) const {
    Value v = precision_.in_float ? Value::rounded(x, to_float(x)) : Value::point(x);
    v.grid = v.clow == to_float(v.clow) ? Grid::F32 : Grid::None;
    v.nonzero = x != 0 && v.clow != 0;
    return v;
}

// ---- Sums and products --------------------------------------------------------------------------

Value Arithmetic::add(const Value& a, const Value& b) {
    Value v;
    if (a.is_point() && a.low == 0) return b;
    if (b.is_point() && b.low == 0) return a;
    const double low = a.low + b.low, high = a.high + b.high;
    const double clow = a.clow + b.clow, chigh = a.chigh + b.chigh;
    if (!a.finite() || !b.finite()) {
        v.low = low, v.high = high, v.clow = clow, v.chigh = chigh;
        const bool invalid = (may_rise(a) && may_fall(b)) || (may_fall(a) && may_rise(b));
        return not_finite(v, a, b, invalid, "inf - inf");
    }
    if (a.is_point() && b.is_point()) {
        const double part = low - a.low;
        const double lost = (a.low - (low - part)) + (b.low - part);
        if (lost == 0) {
            v = Value::point(low);
            const bool fits = !precision_.in_float || to_float(low) == low;
            return rounded(v, true, fits, false);
        }
    }
    v.low = down(low);
    v.high = up(high);
    // Rounding is monotone: the rounded bounds are bounds of the rounded sums.
    const bool in_double = precision_.rounds && !precision_.in_float;
    v.clow = in_double ? clow : down(clow);
    v.chigh = in_double ? chigh : up(chigh);
    v.error = a.error + b.error;
    if (v.error > 0) v.error = up(v.error);
    const bool same_sign = (a.low >= 0 && b.low >= 0) || (a.high <= 0 && b.high <= 0);
    v.relative = v.tiny = v.error == 0 ? 0 : kInfinity;
    if (v.error > 0 && same_sign) {
        // |a| is at most this part of |a + b|.
        const auto part = [](const Value& x, const Value& y) {
            const double all = x.size() + y.least();
            return all > 0 ? std::min(1.0, up(x.size() / down(all))) : 1.0;
        };
        const double most = std::max(a.relative, b.relative);
        const double parts = up(up(a.relative * part(a, b)) + up(b.relative * part(b, a)));
        v.relative = parts < most ? parts : most;
        v.tiny = a.tiny + b.tiny > 0 ? up(a.tiny + b.tiny) : 0;
    }
    return rounded(v, true, false, false);
}

Value Arithmetic::mul(const Value& a, const Value& b) {
    Value v;
    if (is_unit(b) && b.low == 1 && !a.nan) return a;
    if (is_unit(a) && a.low == 1 && !b.nan) return b;
    const Bounds ideal = product(a.low, a.high, b.low, b.high);
    const Bounds computed = product(a.clow, a.chigh, b.clow, b.chigh);
    if (!a.finite() || !b.finite()) {
        v.low = ideal.low, v.high = ideal.high, v.clow = computed.low, v.chigh = computed.high;
        const bool invalid =
            (may_be_infinite(a) && may_be_zero(b)) || (may_be_zero(a) && may_be_infinite(b));
        return not_finite(v, a, b, invalid, "0 * inf");
    }
    if (is_unit(a) || is_unit(b)) {
        if ((is_unit(a) ? a : b).low != 0) return is_unit(a) ? neg(b) : neg(a);
        v = Value::point(0);
        v.grid = Grid::F32;
        return v;
    }
    if (a.is_point() && b.is_point() && std::fma(a.low, b.low, -ideal.low) == 0 &&
        std::fabs(ideal.low) > 0x1p-900) {
        v = Value::point(ideal.low);
        return rounded(v, true, !precision_.in_float || to_float(v.low) == v.low, false);
    }
    v.low = down(ideal.low);
    v.high = up(ideal.high);
    const bool in_double = precision_.rounds && !precision_.in_float;
    v.clow = in_double ? computed.low : down(computed.low);
    v.chigh = in_double ? computed.high : up(computed.high);
    // The signs of factors are those of the product.
    if ((a.low >= 0 && b.low >= 0) || (a.high <= 0 && b.high <= 0)) v.low = std::max(v.low, 0.0);
    if ((a.clow >= 0 && b.clow >= 0) || (a.chigh <= 0 && b.chigh <= 0))
        v.clow = std::max(v.clow, 0.0);
    if (a.error > 0 || b.error > 0) {
        const double one = up(up(a.error * b.computed_size()) + up(a.size() * b.error));
        const double other = up(up(a.error * b.size()) + up(a.computed_size() * b.error));
        v.error = std::min(one, other);
        v.relative = both(a.relative, b.relative);
        v.tiny = 0;
        if (a.tiny > 0 || b.tiny > 0) {
            v.tiny = up(up(up(a.tiny * b.size()) * (1 + b.relative)) +
                        up(up(b.tiny * a.size()) * (1 + a.relative)) + up(a.tiny * b.tiny));
            v.tiny = up(up(v.tiny));
        }
    }
    return rounded(v, true, false, true);
}

Value Arithmetic::square(const Value& a) {
    if (!a.finite() || a.is_point()) return mul(a, a);
    const double least = a.least(), most = a.size();
    const double computed_least = a.computed_least(), computed_most = a.computed_size();
    Value v;
    v.low = std::max(0.0, down(least * least));
    v.high = up(most * most);
    v.clow = std::max(0.0, down(computed_least * computed_least));
    v.chigh = up(computed_most * computed_most);
    if (a.error > 0) {
        v.error = up(a.error * up(most + computed_most));
        v.relative = both(a.relative, a.relative);
        v.tiny = up(up(2 * up(a.tiny * most) * (1 + a.relative)) + up(a.tiny * a.tiny));
    }
    return rounded(v, true, false, true);
}

// ---- Quotients ----------------------------------------------------------------------------------

Value Arithmetic::div(const Value& a, const Value& b) {
    if (is_unit(b) && b.low == 1 && !a.nan) return a;
    const bool operands = a.finite() && b.finite();
    if (zero_inside(b.clow, b.chigh) || zero_inside(b.low, b.high)) {
        if (b.nonzero) {
            events_->meet(Hazard::Overflow, operands, {b.clow, b.chigh}, "a divisor near 0");
        } else {
            events_->meet(
                Hazard::DivisionByZero, operands, {b.clow, b.chigh}, "the divisor may be 0");
            if (zero_inside(a.clow, a.chigh))
                events_->meet(Hazard::Invalid, operands, {a.clow, a.chigh}, "0 / 0");
        }
        return Value::top();
    }
    Value v;
    const Bounds ideal = quotient(a.low, a.high, b.low, b.high);
    const Bounds computed = quotient(a.clow, a.chigh, b.clow, b.chigh);
    if (!operands) {
        v.low = ideal.low, v.high = ideal.high, v.clow = computed.low, v.chigh = computed.high;
        const bool invalid = may_be_infinite(a) && may_be_infinite(b);
        return not_finite(v, a, b, invalid, "inf / inf");
    }
    if (a.is_point() && b.is_point() && std::fma(ideal.low, b.low, -a.low) == 0 &&
        std::fabs(ideal.low) > 0x1p-900 && std::fabs(a.low) > 0x1p-900) {
        v = Value::point(ideal.low);
        return rounded(v, true, !precision_.in_float || to_float(v.low) == v.low, false);
    }
    if (is_zero(a) && a.is_point()) return Value::point(0);
    v.low = down(ideal.low);
    v.high = up(ideal.high);
    v.clow = down(computed.low);
    v.chigh = up(computed.high);
    if (a.low >= 0 && b.low > 0) v.low = std::max(v.low, 0.0);
    if (a.clow >= 0 && b.clow > 0) v.clow = std::max(v.clow, 0.0);
    if (a.error > 0 || b.error > 0) {
        const double divisor = b.computed_least();
        v.error = up(up(a.error / divisor) + up(up(v.size() * b.error) / divisor));
        const double off = b.tiny > 0 ? up(b.relative + up(b.tiny / b.least())) : b.relative;
        v.relative = off < 0.5 ? up(up(a.relative + off) / down(1 - off)) : kInfinity;
        v.tiny = a.tiny > 0 ? up(a.tiny / divisor) : 0;
    }
    return rounded(v, true, false, true);
}

Value Arithmetic::share(const Value& a, const Value& b, double error) {
    if (!(a.low >= 0 && a.clow >= 0) || !a.finite() || !b.finite()) return div(a, b);
    Value v = div(a, b);
    if (v.nan) return v;
    v.low = std::max(v.low, 0.0);
    v.high = std::min(v.high, 1.0);
    v.clow = std::max(v.clow, 0.0);
    v.chigh = std::min(v.chigh, 1.0);
    if (!precision_.rounds && error < v.error) v.error = error;
    return sealed(v);
}

// a - floor(a / b) * b
Value Arithmetic::mod(const Value& a, const Value& b) {
    const Value quotient = div(a, b);
    if (quotient.nan) return Value::top();
    const Value whole = function("floor", quotient);
    Value v = sub(a, mul(whole, b));
    // Exact arithmetic stays between 0 and b.
    v.low = std::max(v.low, std::min(b.low, 0.0));
    v.high = std::min(v.high, std::max(b.high, 0.0));
    return sealed(v);
}

// ---- Order --------------------------------------------------------------------------------------

Value Arithmetic::neg(const Value& a) {
    Value v = a;
    v.low = -a.high;
    v.high = -a.low;
    v.clow = -a.chigh;
    v.chigh = -a.clow;
    return v;
}

Value Arithmetic::max(const Value& a, const Value& b) {
    Value v{.low = std::max(a.low, b.low),
            .high = std::max(a.high, b.high),
            .clow = std::max(a.clow, b.clow),
            .chigh = std::max(a.chigh, b.chigh),
            .error = std::max(a.error, b.error),
            .relative = kInfinity,
            .tiny = kInfinity,
            .nan = a.nan || b.nan,
            .nonzero = a.nonzero && b.nonzero,
            .grid = a.grid == b.grid ? a.grid : Grid::None};
    if (v.nan) return v;
    // The larger one in both worlds: the other has no part in it.
    if (a.low >= b.high && a.clow >= b.chigh) return a;
    if (b.low >= a.high && b.clow >= a.chigh) return b;
    const bool same_sign = (a.low >= 0 && b.low >= 0) || (a.high <= 0 && b.high <= 0);
    const auto zero = [](const Value& x) { return x.is_point() && x.low == 0; };
    const double relative = std::max(a.relative, b.relative);
    if (same_sign || ((zero(a) || zero(b)) && relative <= 1)) {
        v.relative = relative;
        v.tiny = std::max(a.tiny, b.tiny);
    }
    return sealed(v);
}

// ---- Integers -----------------------------------------------------------------------------------

namespace {

// Integers of this size are exact in double.
constexpr double kExact = 0x1p53;

Value int_result(Bounds ideal, Bounds computed, double error) {
    Value v;
    const bool small = std::max({std::fabs(ideal.low),
                                 std::fabs(ideal.high),
                                 std::fabs(computed.low),
                                 std::fabs(computed.high)}) < kExact;
    v.low = small ? ideal.low : down(ideal.low);
    v.high = small ? ideal.high : up(ideal.high);
    v.clow = small ? computed.low : down(computed.low);
    v.chigh = small ? computed.high : up(computed.high);
    v.error = error;
    v.relative = v.tiny = error == 0 ? 0 : kInfinity;
    return sealed(v);
}

}  // namespace

Value Arithmetic::wrapped(Value v, double low, double high) {
    // The largest int64 is no double: numbers next to it count as too large.
    const double most = high >= 0x1p63 ? high - 0x1p12 : high;
    if (!v.nan && v.clow >= low && v.chigh <= most && v.low >= low && v.high <= most) return v;
    events_->meet(Hazard::Wrap, true, {v.clow, v.chigh}, "an integer beyond the range of its type");
    const bool exact = v.error == 0 && !v.nan;
    v = Value::between(low, high);
    v.error = exact ? 0 : up(high - low);
    v.relative = v.tiny = v.error == 0 ? 0 : kInfinity;
    return v;
}

Value Arithmetic::int_add(const Value& a, const Value& b) {
    const double error = a.error + b.error;
    return wrapped(int_result({a.low + b.low, a.high + b.high},
                              {a.clow + b.clow, a.chigh + b.chigh},
                              error > 0 ? up(error) : 0),
                   -0x1p63,
                   0x1p63);
}

Value Arithmetic::int_mul(const Value& a, const Value& b) {
    const double error = a.error == 0 && b.error == 0
                             ? 0
                             : up(up(a.error * b.computed_size()) + up(a.size() * b.error));
    return wrapped(int_result(product(a.low, a.high, b.low, b.high),
                              product(a.clow, a.chigh, b.clow, b.chigh),
                              error),
                   -0x1p63,
                   0x1p63);
}

Value Arithmetic::int_div(const Value& a, const Value& b) {
    if (zero_inside(b.clow, b.chigh) || zero_inside(b.low, b.high)) {
        if (!b.nonzero)
            events_->meet(Hazard::DivisionByZero, true, {b.clow, b.chigh}, "the divisor may be 0");
        Value v = Value::between(-std::max(a.size(), a.computed_size()) - 1,
                                 std::max(a.size(), a.computed_size()) + 1);
        v.error = a.error == 0 && b.error == 0 ? 0 : up(v.high - v.low);
        v.relative = v.tiny = v.error == 0 ? 0 : kInfinity;
        return v;
    }
    Bounds ideal = quotient(a.low, a.high, b.low, b.high);
    Bounds computed = quotient(a.clow, a.chigh, b.clow, b.chigh);
    ideal = {std::floor(ideal.low), std::floor(ideal.high)};
    computed = {std::floor(computed.low), std::floor(computed.high)};
    double error = 0;
    if (a.error > 0 || b.error > 0)
        error = up(std::max(computed.high - ideal.low, ideal.high - computed.low));
    return int_result(ideal, computed, std::max(error, 0.0));
}

Value Arithmetic::int_mod(const Value& a, const Value& b) {
    if (zero_inside(b.clow, b.chigh) && !b.nonzero)
        events_->meet(Hazard::DivisionByZero, true, {b.clow, b.chigh}, "the divisor may be 0");
    if (a.is_point() && b.is_point() && b.low != 0 && a.size() < kExact && b.size() < kExact)
        return Value::point(a.low - std::floor(a.low / b.low) * b.low);
    const double low = std::min({b.low, b.clow, 0.0}), high = std::max({b.high, b.chigh, 0.0});
    if (a.low >= 0 && a.clow >= 0 && b.low > std::max(a.high, a.chigh)) return a;
    Value v = Value::between(low, high);
    v.error = a.error == 0 && b.error == 0 ? 0 : up(high - low);
    v.relative = v.tiny = v.error == 0 ? 0 : kInfinity;
    return v;
}

Value Arithmetic::int_pow(const Value& a, const Value& b) {
    const double least = std::min(b.low, b.clow), most = std::max(b.high, b.chigh);
    if (least < 0 || most > 64) {
        Value v = Value::between(-0x1p63, 0x1p63);
        v.error = a.error == 0 && b.error == 0 ? 0 : 0x1p64;
        v.relative = v.tiny = v.error == 0 ? 0 : kInfinity;
        events_->meet(Hazard::Wrap, true, {a.clow, a.chigh}, "an integer power without a bound");
        return v;
    }
    Value result;
    bool first = true;
    for (double n = std::floor(least); n <= most; ++n) {
        Value power = Value::point(1);
        for (double i = 0; i < n; ++i) power = int_mul(power, a);
        result = first ? power : join(result, power);
        first = false;
    }
    if (b.error > 0) result = cross(result, result);
    return result;
}

Value Arithmetic::int_sign(const Value& a) {
    return step(a, [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }, false);
}

Value Arithmetic::to_real(const Value& a) {
    if (a.size() <= (precision_.in_float ? 0x1p24 : kExact)) {
        Value v = a;
        v.grid = a.computed_size() <= 0x1p24 ? Grid::F32 : Grid::None;
        return v;
    }
    return rounded(a, true, false, false);
}

// ---- Decisions ----------------------------------------------------------------------------------

// A monotone function with steps: exact, unless rounding moves the operand over a step.
Value Arithmetic::step(const Value& a, double (*f)(double), bool steps_of_one) {
    if (a.nan) return Value::top();
    Value v;
    v.low = f(a.low);
    v.high = f(a.high);
    v.clow = f(a.clow);
    v.chigh = f(a.chigh);
    v.grid = Grid::F32;
    if (std::max(std::fabs(v.clow), std::fabs(v.chigh)) > 0x1p24) v.grid = a.grid;
    if (a.error == 0) return v;
    v.error = std::max(v.chigh - v.low, v.high - v.clow);
    // Operands that are close have results that are close: at most one step more.
    const double close = up(a.error + 1);
    if (steps_of_one && close < v.error) v.error = std::max(1.0, std::floor(close));
    v.error = std::max(v.error, 0.0);
    v.relative = v.tiny = v.error == 0 ? 0 : kInfinity;
    if (v.error > 0)
        events_->meet(Hazard::Decision, a.finite(), {a.clow, a.chigh}, "a value near a step");
    return sealed(v);
}

Value Arithmetic::to_int(const Value& a) {
    if (a.nan) {
        events_->meet(Hazard::Wrap, false, {a.clow, a.chigh}, "a cast of NaN");
        return wrapped(Value::top(), -0x1p63, 0x1p63);
    }
    return wrapped(step(a, [](double x) { return std::trunc(x); }, true), -0x1p63, 0x1p63);
}

Value Arithmetic::decided(
    bool ideal_true, bool ideal_false, bool true_, bool false_, const Value& margin) {
    Value v;
    v.low = ideal_false ? 0 : 1;
    v.high = ideal_true ? 1 : 0;
    v.clow = false_ ? 0 : 1;
    v.chigh = true_ ? 1 : 0;
    v.grid = Grid::F32;
    if (margin.error == 0 && !margin.nan) return v;
    const bool differ = (ideal_true && false_) || (ideal_false && true_);
    v.error = differ ? 1 : 0;
    v.relative = v.tiny = differ ? kInfinity : 0;
    if (differ)
        events_->meet(Hazard::Decision,
                      margin.finite(),
                      {margin.clow, margin.chigh},
                      "the operands of a comparison may be closer than their errors");
    return v;
}

Value Arithmetic::compare(const Value& a, const Value& b, bool or_equal) {
    if (a.nan || b.nan) return decided(true, true, true, true, Value::top());
    const auto may = [&](double x, double y) { return or_equal ? x <= y : x < y; };
    Value margin = a;
    margin.error = a.error + b.error;
    return decided(may(a.low, b.high),
                   !may(a.high, b.low),
                   may(a.clow, b.chigh),
                   !may(a.chigh, b.clow),
                   margin);
}

Value Arithmetic::equal(const Value& a, const Value& b) {
    if (a.nan || b.nan) return decided(true, true, true, true, Value::top());
    Value margin = a;
    margin.error = a.error + b.error;
    const auto meet = [](double al, double ah, double bl, double bh) {
        return al <= bh && bl <= ah;
    };
    const auto must = [](double al, double ah, double bl, double bh) {
        return al == ah && bl == bh && al == bl;
    };
    return decided(meet(a.low, a.high, b.low, b.high),
                   !must(a.low, a.high, b.low, b.high),
                   meet(a.clow, a.chigh, b.clow, b.chigh),
                   !must(a.clow, a.chigh, b.clow, b.chigh),
                   margin);
}

// ---- Storing ------------------------------------------------------------------------------------

namespace {

struct Format {
    double unit, least_normal, largest;
    Grid grid;
};

Format format_of(tensor::DType dtype) {
    switch (dtype) {
        case tensor::DType::F16:
            return {0x1p-11, 0x1p-14, 65504, Grid::F16};
        case tensor::DType::BF16:
            return {0x1p-8, 0x1p-126, 0x1.FEp127, Grid::BF16};
        default:
            return {0x1p-24, 0x1p-126, std::numeric_limits<float>::max(), Grid::F32};
    }
}

}  // namespace

Value Arithmetic::stored(const Value& v, tensor::DType dtype) {
    if (dtype == tensor::DType::Bool || dtype == tensor::DType::Str) return v;
    if (!tensor::is_real(dtype)) {
        const int bits = static_cast<int>(tensor::dtype_size(dtype)) * 8;
        const bool is_signed = tensor::is_signed(dtype);
        const double low = is_signed ? -std::ldexp(1, bits - 1) : 0;
        const double high = std::ldexp(1, is_signed ? bits - 1 : bits) - (bits < 64 ? 1 : 0);
        return wrapped(v, low, high);
    }
    if (dtype == tensor::DType::F64 || !precision_.rounds || v.nan) return v;
    const Format format = format_of(dtype);
    if (v.grid == format.grid || (format.grid == Grid::F32 && v.grid != Grid::None)) return v;
    if (v.is_point() && tensor::round_to(dtype, v.low) == v.low) return v;
    Value r = v;
    const bool finite = v.finite();
    const double size = v.computed_size();
    r.clow = tensor::round_to(dtype, v.clow);
    r.chigh = tensor::round_to(dtype, v.chigh);
    r.grid = format.grid;
    if (!finite) return r;
    if (!(r.computed_size() <= format.largest)) {
        events_->meet(
            Hazard::Overflow, true, {v.clow, v.chigh}, "a result beyond the largest number");
        r.error = r.relative = r.tiny = kInfinity;
        return sealed(r);
    }
    r.error = up(v.error + format.unit * power_below(std::max(size, format.least_normal)));
    r.relative = both(v.relative, format.unit);
    r.tiny = up(v.tiny * (1 + format.unit) + format.unit * format.least_normal);
    return sealed(r);
}

}  // namespace lemma::certify
