// SPDX-License-Identifier: Apache-2.0
// ir/symbols/scalar_math.h — the operators of SkriptND on constant scalars, as far as C++ lacks
// them. The symbolic pool and the evaluator of compile-time values share them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lemma::ir {

double real_mod(double a, double b);       // a - floor(a / b) * b
double real_ceil_div(double a, double b);  // ceil(a / b)
// NaN if either operand is NaN.
inline double real_min(double a, double b) { return b < a || b != b ? b : a; }
inline double real_max(double a, double b) { return a < b || b != b ? b : a; }

// Rounds towards zero; an infinity becomes the int64 extreme. Empty for NaN or on overflow.
std::optional<int64_t> truncate_to_int(double value);

// True for the 22 built-in functions of SkriptND.
bool is_function(std::string_view name);
// True for `abs` and `sign`, which also take int.
bool is_int_function(std::string_view name);
// A built-in function by its IEEE value: NaN or an infinity outside of its domain. Empty for an
// unknown name.
std::optional<double> real_function(std::string_view name, double x);

}  // namespace lemma::ir
