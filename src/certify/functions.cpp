// SPDX-License-Identifier: Apache-2.0
// The built-in functions on abstract values. Each one has bounds on an interval, a bound of its
// slope, a domain, and the claimed error of the C library.
#include <algorithm>
#include <array>
#include <numbers>

#include "certify/arithmetic.h"

namespace lemma::certify {

namespace {

constexpr double kPi = std::numbers::pi;

struct Bounds {
    double low, high;
};

}  // namespace

struct SmoothFunction {
    std::string_view name;
    double ulp;
    // By the C library, as the program calls it.
    double (*value)(double);
    // Bounds of the library's values at the ends or at extrema inside; before the claimed error.
    Bounds (*bounds)(double low, double high);
    // Upper bound of |f'| before outward rounding.
    double (*slope)(double low, double high);
    double domain_low, domain_high;  // open where the value is infinite
    double least, most;              // bounds of all values
};

namespace {

// The relative error of a product of two factors that are off by a and b.
double both(double a, double b) { return up(up(a + b) + up(a * b)); }

double nearest_zero(double low, double high) { return low > 0 ? low : high < 0 ? -high : 0; }
double farthest(double low, double high) { return std::max(std::fabs(low), std::fabs(high)); }

template <double (*kF)(double)>
Bounds rising(double low, double high) {
    return {kF(low), kF(high)};
}
template <double (*kF)(double)>
Bounds falling(double low, double high) {
    return {kF(high), kF(low)};
}

// Whether the interval may have a point start + k * period.
bool may_contain(double low, double high, double start, double period) {
    constexpr double kSlack = 1e-6;
    return std::floor((high - start) / period + kSlack) >=
           std::ceil((low - start) / period - kSlack);
}

double the_sin(double x) { return std::sin(x); }
double the_cos(double x) { return std::cos(x); }
double the_tan(double x) { return std::tan(x); }
double the_exp(double x) { return std::exp(x); }
double the_log(double x) { return std::log(x); }
double the_sqrt(double x) { return std::sqrt(x); }
double the_asin(double x) { return std::asin(x); }
double the_acos(double x) { return std::acos(x); }
double the_atan(double x) { return std::atan(x); }
double the_sinh(double x) { return std::sinh(x); }
double the_cosh(double x) { return std::cosh(x); }
double the_tanh(double x) { return std::tanh(x); }
double the_asinh(double x) { return std::asinh(x); }
double the_acosh(double x) { return std::acosh(x); }
double the_atanh(double x) { return std::atanh(x); }
double the_erf(double x) { return std::erf(x); }

Bounds wave(double low, double high, double peak, double (*f)(double)) {
    constexpr double kTooLarge = 1e6;  // there the reduction below is not exact enough
    if (!(farthest(low, high) < kTooLarge)) return {-1, 1};
    const double a = f(low), b = f(high);
    return {may_contain(low, high, peak + kPi, 2 * kPi) ? -1 : std::min(a, b),
            may_contain(low, high, peak, 2 * kPi) ? 1 : std::max(a, b)};
}

Bounds tangent(double low, double high) {
    if (!(farthest(low, high) < 1e6) || may_contain(low, high, kPi / 2, kPi))
        return {-kInfinity, kInfinity};
    return {std::tan(low), std::tan(high)};
}

double one(double, double) { return 1; }
double squared(double x) { return x * x; }

constexpr std::array<SmoothFunction, 16> kFunctions = {{
    {"sqrt",
     0,
     the_sqrt,
     rising<the_sqrt>,
     [](double l, double) { return 0.5 / std::sqrt(l); },
     0,
     kInfinity,
     0,
     kInfinity},
    {"exp",
     1,
     the_exp,
     rising<the_exp>,
     [](double, double h) { return std::exp(h); },
     -kInfinity,
     kInfinity,
     0,
     kInfinity},
    {"log",
     1,
     the_log,
     rising<the_log>,
     [](double l, double) { return 1 / l; },
     0,
     kInfinity,
     -kInfinity,
     kInfinity},
    {"sin",
     1,
     the_sin,
     [](double l, double h) { return wave(l, h, kPi / 2, the_sin); },
     one,
     -kInfinity,
     kInfinity,
     -1,
     1},
    {"cos",
     1,
     the_cos,
     [](double l, double h) { return wave(l, h, 0, the_cos); },
     one,
     -kInfinity,
     kInfinity,
     -1,
     1},
    {"tan",
     1,
     the_tan,
     tangent,
     [](double l, double h) {
         const Bounds b = tangent(l, h);
         return 1 + squared(farthest(b.low, b.high));
     },
     -kInfinity,
     kInfinity,
     -kInfinity,
     kInfinity},
    {"asin",
     1,
     the_asin,
     rising<the_asin>,
     [](double l, double h) { return 1 / std::sqrt((1 - farthest(l, h)) * (1 + farthest(l, h))); },
     -1,
     1,
     -1.5707963267948968,
     1.5707963267948968},
    {"acos",
     1,
     the_acos,
     falling<the_acos>,
     [](double l, double h) { return 1 / std::sqrt((1 - farthest(l, h)) * (1 + farthest(l, h))); },
     -1,
     1,
     0,
     3.1415926535897936},
    {"atan",
     1,
     the_atan,
     rising<the_atan>,
     [](double l, double h) { return 1 / (1 + squared(nearest_zero(l, h))); },
     -kInfinity,
     kInfinity,
     -1.5707963267948968,
     1.5707963267948968},
    {"sinh",
     2,
     the_sinh,
     rising<the_sinh>,
     [](double l, double h) { return std::cosh(farthest(l, h)); },
     -kInfinity,
     kInfinity,
     -kInfinity,
     kInfinity},
    {"cosh",
     2,
     the_cosh,
     [](double l, double h) {
         return Bounds{std::cosh(nearest_zero(l, h)), std::cosh(farthest(l, h))};
     },
     [](double l, double h) { return std::sinh(farthest(l, h)); },
     -kInfinity,
     kInfinity,
     1,
     kInfinity},
    {"tanh",
     2,
     the_tanh,
     rising<the_tanh>,
     [](double l, double h) { return 1 - squared(std::tanh(nearest_zero(l, h))) * (1 - 0x1p-49); },
     -kInfinity,
     kInfinity,
     -1,
     1},
    {"asinh",
     2,
     the_asinh,
     rising<the_asinh>,
     [](double l, double h) { return 1 / std::sqrt(1 + squared(nearest_zero(l, h))); },
     -kInfinity,
     kInfinity,
     -kInfinity,
     kInfinity},
    {"acosh",
     2,
     the_acosh,
     rising<the_acosh>,
     [](double l, double) { return 1 / std::sqrt((l - 1) * (l + 1)); },
     1,
     kInfinity,
     0,
     kInfinity},
    {"atanh",
     2,
     the_atanh,
     rising<the_atanh>,
     [](double l, double h) {
         const double x = farthest(l, h);
         return 1 / ((1 - x) * (1 + x));
     },
     -1,
     1,
     -kInfinity,
     kInfinity},
    {"erf",
     1,
     the_erf,
     rising<the_erf>,
     [](double l, double h) {
         return 2 / std::sqrt(kPi) * std::exp(-squared(nearest_zero(l, h)) * (1 - 0x1p-50));
     },
     -kInfinity,
     kInfinity,
     -1,
     1},
}};

const SmoothFunction* find(std::string_view name) {
    const auto found = std::ranges::find(kFunctions, name, &SmoothFunction::name);
    return found == kFunctions.end() ? nullptr : &*found;
}

// Room for the error of the library where we use its values as bounds: more than it claims.
double above(double x, double ulp) { return x + (std::fabs(x) * (ulp + 1) * 0x1p-52 + 0x1p-1070); }
double below(double x, double ulp) { return x - (std::fabs(x) * (ulp + 1) * 0x1p-52 + 0x1p-1070); }
// Of a few operations on such values.
double well_above(double x) { return x + (std::fabs(x) * 0x1p-44 + 0x1p-1070); }

bool within(const SmoothFunction& f, double low, double high) {
    return low >= f.domain_low && high <= f.domain_high;
}

// log(0) and atanh(1) are infinite.
bool has_pole(const SmoothFunction& f, double low, double high) {
    if (f.name == "log") return low <= 0;
    return f.name == "atanh" && (low <= -1 || high >= 1);
}

}  // namespace

double library_ulp(std::string_view name) {
    if (name == "pow") return 1;
    const SmoothFunction* const f = find(name);
    return f ? f->ulp : 0;
}

Value Arithmetic::smooth(const SmoothFunction& f, const Value& a) {
    const bool operand = a.finite();
    if (a.nan) return Value::top();
    if (!within(f, a.low, a.high) || !within(f, a.clow, a.chigh)) {
        events_->meet(
            Hazard::Domain, operand, {a.clow, a.chigh}, "an operand outside of the domain");
        events_->meet(
            Hazard::Invalid, operand, {a.clow, a.chigh}, "an operand outside of the domain");
        return Value::top();
    }
    if (has_pole(f, a.low, a.high) || has_pole(f, a.clow, a.chigh)) {
        events_->meet(Hazard::DivisionByZero, operand, {a.clow, a.chigh}, "a pole of the function");
        return Value::top();
    }
    Value v;
    const Bounds ideal = f.bounds(a.low, a.high), computed = f.bounds(a.clow, a.chigh);
    v.low = std::max(f.least, below(ideal.low, f.ulp));
    v.high = std::min(f.most, above(ideal.high, f.ulp));
    v.clow = std::max(f.least, below(computed.low, f.ulp));
    v.chigh = std::min(f.most, above(computed.high, f.ulp));
    const double low = std::min(a.low, a.clow), high = std::max(a.high, a.chigh);
    if (a.error > 0) {
        v.error = a.error < kInfinity ? up(well_above(f.slope(low, high)) * a.error) : kInfinity;
        v.relative = v.tiny = kInfinity;
        if (f.name == "exp") {
            v.relative = well_above(std::expm1(a.error));
            v.tiny = 0;
        } else if (f.name == "sqrt") {
            // |sqrt(x + e) - sqrt(x)| <= sqrt(e)
            const double root = well_above(std::sqrt(a.error));
            if (!(v.error <= root)) v.error = root;
            if (a.relative < 1 && a.tiny == 0) {
                v.relative = well_above(1 - std::sqrt(1 - a.relative));
                v.tiny = 0;
            }
        }
    }
    if (!operand) {
        // exp(-inf) and tanh(inf) are exact.
        const bool same = a.error == 0 && a.low == a.high;
        v.error = same ? 0 : std::isnan(v.error) ? kInfinity : v.error;
        if (same) v = Value::point(f.value(a.low));
    }
    if (!precision_.rounds) return rounded(v, operand, false, true);
    if (f.ulp > 0) {
        const double off = f.ulp * 0x1p-52;
        v.error = up(v.error + up(v.computed_size() * off) + 0x1p-1074);
        v.relative = up(up(v.relative + off) + up(v.relative * off));
        v.tiny = up(v.tiny + f.ulp * 0x1p-1074);
        if (!precision_.in_float) return rounded(v, operand, true, true);
    }
    return rounded(v, operand, false, true);
}

Value Arithmetic::function(std::string_view name, const Value& a) {
    if (const SmoothFunction* const f = find(name)) return smooth(*f, a);
    if (a.nan) return Value::top();
    if (name == "abs") {
        if (a.low >= 0 && a.clow >= 0) return a;
        if (a.high <= 0 && a.chigh <= 0) return neg(a);
        Value v = max(a, neg(a));
        v.low = std::max(v.low, 0.0);
        v.clow = std::max(v.clow, 0.0);
        v.error = a.error;
        v.relative = a.relative;
        v.tiny = a.tiny;
        return v;
    }
    if (name == "sign") return int_sign(a);
    if (name == "floor") return step(a, [](double x) { return std::floor(x); }, true);
    if (name == "ceil") return step(a, [](double x) { return std::ceil(x); }, true);
    if (name == "round") return step(a, [](double x) { return std::round(x); }, true);
    if (name == "frac") return fraction(a);
    return Value::top();
}

// x - trunc(x), which is exact
Value Arithmetic::fraction(const Value& a) {
    const double low = std::min(a.low, a.clow), high = std::max(a.high, a.chigh);
    const double whole = std::trunc(low);
    if (whole == std::trunc(high) && (whole != 0 || low >= 0 || high <= 0)) {
        Value v = a;
        v.low = a.low - whole;
        v.high = a.high - whole;
        v.clow = a.clow - whole;
        v.chigh = a.chigh - whole;
        v.relative = v.tiny = a.error == 0 ? 0 : kInfinity;
        return v;
    }
    Value v = Value::between(low < 0 ? -1 : 0, high > 0 ? 1 : 0);
    v.grid = a.grid;
    if (a.error == 0) return v;
    events_->meet(Hazard::Decision, a.finite(), {a.clow, a.chigh}, "a value near a step");
    v.error = v.high - v.low;
    v.relative = v.tiny = kInfinity;
    return v;
}

Value Arithmetic::sigmoid(const Value& x) {
    if (x.nan) return Value::top();
    const auto low = [](double at) {
        return std::max(0.0, 1 / (1 + std::exp(-at)) * (1 - 0x1p-48) - 0x1p-1070);
    };
    const auto high = [](double at) { return std::min(1.0, well_above(1 / (1 + std::exp(-at)))); };
    Value v;
    v.low = low(x.low);
    v.high = high(x.high);
    v.clow = low(x.clow);
    v.chigh = high(x.chigh);
    if (x.error > 0) {
        const double near = nearest_zero(std::min(x.low, x.clow), std::max(x.high, x.chigh));
        const double t = std::exp(-near);
        const double slope = std::min(0.25, well_above(t / ((1 + t) * (1 + t))));
        v.error = x.error < kInfinity ? up(slope * x.error) : kInfinity;
        // The logarithm has a slope of at most 1.
        v.relative = well_above(std::expm1(x.error));
    }
    if (!precision_.rounds) return rounded(v, true, false, true);
    // Three roundings and the error of exp, each relative to a factor or to a part of the sum.
    // Below the smallest normal number and beyond the largest, the quotient is off by less than
    // the reciprocal of the largest.
    const double unit = precision_.unit;
    const double off =
        precision_.in_float ? 3 * unit + 0x1p-40 : 4 * unit + library_ulp("exp") * 0x1p-52;
    const double tiny = 4 * precision_.least_normal;
    v.error = up(v.error + up(v.chigh * off) + tiny);
    v.relative = both(v.relative, off);
    v.tiny = up(v.tiny + tiny);
    v.clow = std::max(0.0, v.clow - up(v.clow * off) - tiny);
    v.chigh = std::min(1.0, v.chigh + up(v.chigh * off) + tiny);
    if (precision_.in_float) v.grid = Grid::F32;
    return sealed(v);
}

// ---- Powers -------------------------------------------------------------------------------------

namespace {

// The values of x**n for a whole n at the ends, and 0 inside of an even power.
Bounds whole_power(double low, double high, double n) {
    const double a = std::pow(low, n), b = std::pow(high, n);
    const bool even = std::fmod(n, 2) == 0;
    if (!even) return {a, b};
    return {low <= 0 && high >= 0 ? 0 : std::min(a, b), std::max(a, b)};
}

Bounds corners(double x_low, double x_high, double y_low, double y_high) {
    const double p = std::pow(x_low, y_low), q = std::pow(x_low, y_high);
    const double r = std::pow(x_high, y_low), s = std::pow(x_high, y_high);
    return {std::min({p, q, r, s}), std::max({p, q, r, s})};
}

}  // namespace

Value Arithmetic::pow(const Value& a, const Value& b) {
    const double ulp = library_ulp("pow");
    const bool operands = a.finite() && b.finite();
    if (!operands) {
        if (a.nan || b.nan) return Value::top();
        events_->meet(Hazard::Invalid, false, {a.clow, a.chigh}, "a power of an infinite number");
        return Value::top();
    }
    const double low = std::min(a.low, a.clow), high = std::max(a.high, a.chigh);
    const bool whole = b.is_point() && b.low == std::floor(b.low) && std::fabs(b.low) <= 64;
    if (whole && b.low == 0) return Value::point(1);
    if (whole && b.low == 1) return a;
    const bool positive = low > 0 || (low == 0 && b.low > 0 && b.clow > 0);
    if (!positive && !(whole && (b.low > 0 || high < 0))) {
        const bool zero = low <= 0 && high >= 0;
        if (zero && std::min(b.low, b.clow) < 0)
            events_->meet(Hazard::DivisionByZero, true, {a.clow, a.chigh}, "a negative power of 0");
        if (low < 0 && !whole) {
            events_->meet(Hazard::Domain, true, {a.clow, a.chigh}, "a power of a negative number");
            events_->meet(Hazard::Invalid, true, {a.clow, a.chigh}, "a power of a negative number");
        }
        return Value::top();
    }
    Value v;
    const auto of = [&](double l, double h, double yl, double yh) {
        const Bounds r = whole && low <= 0 ? whole_power(l, h, b.low) : corners(l, h, yl, yh);
        return Bounds{below(r.low, ulp), above(r.high, ulp)};
    };
    const Bounds ideal = of(a.low, a.high, b.low, b.high);
    const Bounds computed = of(a.clow, a.chigh, b.clow, b.chigh);
    const bool not_negative = low >= 0 || (whole && std::fmod(b.low, 2) == 0);
    v.low = not_negative ? std::max(0.0, ideal.low) : ideal.low;
    v.high = ideal.high;
    v.clow = not_negative ? std::max(0.0, computed.low) : computed.low;
    v.chigh = computed.high;
    if (a.error > 0 || b.error > 0) {
        // Mean value theorem on the box of both.
        const double y = std::max(std::fabs(b.low), std::fabs(b.high));
        const double y_low = std::min(b.low, b.clow), y_high = std::max(b.high, b.chigh);
        const double x = farthest(low, high);
        double by_x = kInfinity, by_y = b.error == 0 ? 0 : kInfinity;
        if (whole && b.low >= 1) {
            by_x = y * std::pow(x, b.low - 1);
        } else if (low > 0) {
            by_x = std::max(y, std::max(std::fabs(y_low), std::fabs(y_high))) *
                   corners(low, high, y_low - 1, y_high - 1).high;
        } else if (high < 0 && whole) {
            by_x = y * std::max(std::fabs(std::pow(low, b.low - 1)),
                                std::fabs(std::pow(high, b.low - 1)));
        }
        if (b.error > 0 && low > 0)
            by_y = corners(low, high, y_low, y_high).high *
                   std::max(std::fabs(std::log(low)), std::fabs(std::log(high)));
        const double from_x = a.error == 0 ? 0 : up(well_above(by_x) * a.error);
        const double from_y = b.error == 0 ? 0 : up(well_above(by_y) * b.error);
        v.error = up(from_x + from_y);
        v.relative = v.tiny = kInfinity;
        if (b.error == 0 && whole && a.relative < 0.5 && a.tiny == 0)
            v.relative = well_above(std::expm1(y * well_above(-std::log1p(-a.relative)))),
            v.tiny = 0;
    }
    if (precision_.rounds) {
        const double off = ulp * 0x1p-52;
        v.error = up(v.error + up(v.computed_size() * off) + 0x1p-1074);
        v.relative = up(up(v.relative + off) + up(v.relative * off));
        v.tiny = up(v.tiny + 0x1p-1074);
    }
    return rounded(v, true, precision_.rounds && !precision_.in_float, true);
}

}  // namespace lemma::certify
