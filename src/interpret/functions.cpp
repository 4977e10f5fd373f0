// SPDX-License-Identifier: Apache-2.0
#include "interpret/functions.h"

#include <array>
#include <cmath>
#include <utility>

namespace lemma::interpret {

namespace {

double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }
double fraction(double x) { return x - std::trunc(x); }

using Function = double (*)(double);
constexpr std::array<std::pair<std::string_view, Function>, 22> kFunctions = {{
    {"abs", [](double x) { return std::fabs(x); }},
    {"sign", sign},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"exp", [](double x) { return std::exp(x); }},
    {"log", [](double x) { return std::log(x); }},
    {"sin", [](double x) { return std::sin(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"tan", [](double x) { return std::tan(x); }},
    {"asin", [](double x) { return std::asin(x); }},
    {"acos", [](double x) { return std::acos(x); }},
    {"atan", [](double x) { return std::atan(x); }},
    {"sinh", [](double x) { return std::sinh(x); }},
    {"cosh", [](double x) { return std::cosh(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"asinh", [](double x) { return std::asinh(x); }},
    {"acosh", [](double x) { return std::acosh(x); }},
    {"atanh", [](double x) { return std::atanh(x); }},
    {"erf", [](double x) { return std::erf(x); }},
    {"round", [](double x) { return std::round(x); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
    {"frac", fraction},
}};

}  // namespace

double (*find_function(std::string_view name))(double) {
    for (const auto& [known, function] : kFunctions) {
        if (known == name) return function;
    }
    return nullptr;
}

}  // namespace lemma::interpret
