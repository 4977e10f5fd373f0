// SPDX-License-Identifier: Apache-2.0
// tests/certify/double_double.h — numbers of 106 bits as the sum of two doubles. Sums and products
// are many times faster than in binary128, and exact enough to judge float.
#pragma once

namespace lemma::testing_support {

using Quad = __float128;

struct DoubleDouble {
    double high = 0, low = 0;

    DoubleDouble() = default;
    DoubleDouble(double x) : high(x) {}
    DoubleDouble(double a, double b) : high(a), low(b) {}
    explicit DoubleDouble(Quad x)
        : high(static_cast<double>(x)), low(static_cast<double>(x - static_cast<Quad>(high))) {}
    explicit operator Quad() const { return static_cast<Quad>(high) + low; }
    explicit operator double() const { return high; }

    DoubleDouble operator-() const { return {-high, -low}; }
    friend DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
        const DoubleDouble s = two_sum(a.high, b.high), t = two_sum(a.low, b.low);
        const DoubleDouble u = quick_sum(s.high, s.low + t.high);
        return quick_sum(u.high, u.low + t.low);
    }
    friend DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }
    friend DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
        const double p = a.high * b.high;
        const double e = product_error(a.high, b.high, p);
        return quick_sum(p, e + (a.high * b.low + a.low * b.high));
    }
    friend DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
        return DoubleDouble(static_cast<Quad>(a) / static_cast<Quad>(b));
    }
    friend bool operator<(DoubleDouble a, DoubleDouble b) {
        return a.high < b.high || (a.high == b.high && a.low < b.low);
    }
    friend bool operator==(DoubleDouble a, DoubleDouble b) {
        return a.high == b.high && a.low == b.low;
    }

private:
    static DoubleDouble two_sum(double a, double b) {
        const double s = a + b, part = s - a;
        return {s, (a - (s - part)) + (b - part)};
    }
    // |a| >= |b|
    static DoubleDouble quick_sum(double a, double b) {
        const double s = a + b;
        // An infinite sum has no rest.
        return {s, s - s == 0 ? b - (s - a) : 0};
    }
    // Dekker's product: needs no fused multiply-add.
    static double product_error(double a, double b, double p) {
        const double ca = a * 134217729.0, cb = b * 134217729.0;
        const double ah = ca - (ca - a), bh = cb - (cb - b);
        const double al = a - ah, bl = b - bh;
        const double e = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
        return e == e ? e : 0;
    }
};

}  // namespace lemma::testing_support
