// SPDX-License-Identifier: Apache-2.0
#include "ir/symbols/scalar_math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lemma::ir {

namespace {

double sign_of(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? 0.0 : x; }

struct Function {
    std::string_view name;
    double (*apply)(double);
};

// Sorted by name.
constexpr std::array kFunctions = {
    Function{"abs", [](double x) { return std::fabs(x); }},
    Function{"acos", [](double x) { return std::acos(x); }},
    Function{"acosh", [](double x) { return std::acosh(x); }},
    Function{"asin", [](double x) { return std::asin(x); }},
    Function{"asinh", [](double x) { return std::asinh(x); }},
    Function{"atan", [](double x) { return std::atan(x); }},
    Function{"atanh", [](double x) { return std::atanh(x); }},
    Function{"ceil", [](double x) { return std::ceil(x); }},
    Function{"cos", [](double x) { return std::cos(x); }},
    Function{"cosh", [](double x) { return std::cosh(x); }},
    Function{"erf", [](double x) { return std::erf(x); }},
    Function{"exp", [](double x) { return std::exp(x); }},
    Function{"floor", [](double x) { return std::floor(x); }},
    Function{"frac",
             [](double x) { return std::isinf(x) ? std::copysign(0.0, x) : x - std::trunc(x); }},
    Function{"log", [](double x) { return std::log(x); }},
    Function{"round", [](double x) { return std::round(x); }},
    Function{"sign", sign_of},
    Function{"sin", [](double x) { return std::sin(x); }},
    Function{"sinh", [](double x) { return std::sinh(x); }},
    Function{"sqrt", [](double x) { return std::sqrt(x); }},
    Function{"tan", [](double x) { return std::tan(x); }},
    Function{"tanh", [](double x) { return std::tanh(x); }},
};
static_assert(kFunctions.size() == 22);

const Function* find(std::string_view name) {
    const auto at = std::ranges::lower_bound(kFunctions, name, {}, &Function::name);
    return at != kFunctions.end() && at->name == name ? &*at : nullptr;
}

}  // namespace

double real_mod(double a, double b) { return a - std::floor(a / b) * b; }

double real_ceil_div(double a, double b) { return std::ceil(a / b); }

std::optional<int64_t> truncate_to_int(double value) {
    using Limits = std::numeric_limits<int64_t>;
    if (std::isnan(value)) return std::nullopt;
    if (std::isinf(value)) return value > 0 ? Limits::max() : Limits::min();
    // -2^63 is a double; 2^63 is the first one that does not fit.
    if (value < -0x1p63 || value >= 0x1p63) return std::nullopt;
    return static_cast<int64_t>(value);
}

bool is_function(std::string_view name) { return find(name) != nullptr; }

bool is_int_function(std::string_view name) { return name == "abs" || name == "sign"; }

std::optional<double> real_function(std::string_view name, double x) {
    const Function* function = find(name);
    if (!function) return std::nullopt;
    return function->apply(x);
}

}  // namespace lemma::ir
