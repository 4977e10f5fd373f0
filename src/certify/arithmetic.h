// SPDX-License-Identifier: Apache-2.0
// certify/arithmetic.h — the scalar operations of formulas on abstract values. With a precision
// that rounds, the computed value of each operation is rounded and the error grows by the rounding.
// With an exact one, only the errors of the operands are passed on.
#pragma once

#include <string_view>

#include "certify/events.h"
#include "certify/value.h"
#include "tensor/dtype.h"

namespace lemma::certify {

struct Precision {
    bool rounds = false;    // else exact arithmetic
    bool in_float = false;  // each operation is rounded to float; else to double
    double unit = 0x1p-53;  // half of the distance of 1 and the next number
    double least_normal = 0x1p-1022;
    double largest = std::numeric_limits<double>::max();

    static Precision exact() { return {}; }
    static Precision f64() { return {.rounds = true}; }
    static Precision f32() {
        return {.rounds = true,
                .in_float = true,
                .unit = 0x1p-24,
                .least_normal = 0x1p-126,
                .largest = std::numeric_limits<float>::max()};
    }
};

// The claimed error of a function of the C library in units of the last place of double; 0 for a
// function that is exact or correctly rounded.
double library_ulp(std::string_view function);

class Arithmetic {
public:
    Arithmetic(Precision precision, Events& events) : precision_(precision), events_(&events) {}

    const Precision& precision() const { return precision_; }

    Value constant(double x) const;
    Value add(const Value& a, const Value& b);
    Value sub(const Value& a, const Value& b) { return add(a, neg(b)); }
    Value mul(const Value& a, const Value& b);
    Value square(const Value& a);
    Value div(const Value& a, const Value& b);
    // a / b, where b is a sum of a and other numbers that are not negative. `error` bounds the
    // error that exact arithmetic passes on.
    Value share(const Value& a, const Value& b, double error);
    Value mod(const Value& a, const Value& b);
    Value pow(const Value& a, const Value& b);
    static Value neg(const Value& a);
    static Value min(const Value& a, const Value& b) { return neg(max(neg(a), neg(b))); }
    static Value max(const Value& a, const Value& b);
    // One of the built-in functions.
    Value function(std::string_view name, const Value& a);
    // 1 / (exp(-x) + 1). If exp overflows, the quotient is 0, which is within the bound.
    Value sigmoid(const Value& x);

    // Integers: exact, without wrap-around; `wrapped` follows.
    Value int_add(const Value& a, const Value& b);
    Value int_mul(const Value& a, const Value& b);
    Value int_div(const Value& a, const Value& b);
    Value int_mod(const Value& a, const Value& b);
    Value int_pow(const Value& a, const Value& b);
    Value int_sign(const Value& a);
    Value to_real(const Value& a);
    Value to_int(const Value& a);

    // Bools are 0 and 1; an error of 1 says that rounding may change the decision.
    Value less(const Value& a, const Value& b) { return compare(a, b, false); }
    Value less_equal(const Value& a, const Value& b) { return compare(a, b, true); }
    Value equal(const Value& a, const Value& b);

    // The stored value of a dtype: rounded reals, wrapped integers.
    Value stored(const Value& v, tensor::DType dtype);

private:
    Value compare(const Value& a, const Value& b, bool or_equal);
    Value decided(bool ideal_true, bool ideal_false, bool true_, bool false_, const Value& margin);
    // Adds the rounding error to a result whose computed bounds and error are those of exact
    // arithmetic on the computed operands.
    Value rounded(Value v, bool finite_operands, bool exact, bool underflows);
    Value not_finite(Value v, const Value& a, const Value& b, bool invalid, const char* reason);
    // A monotone function with steps, `steps_of_one` at distances of at least one.
    Value step(const Value& a, double (*f)(double), bool steps_of_one);
    Value fraction(const Value& a);
    Value smooth(const struct SmoothFunction& f, const Value& a);
    Value wrapped(Value v, double low, double high);

    Precision precision_;
    Events* events_;
};

}  // namespace lemma::certify
