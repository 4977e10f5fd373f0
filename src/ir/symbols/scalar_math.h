// ir/symbols/scalar_math.h — what the operators of SkriptND mean on constant scalars, where C++ has
// no operator for it. Shared by the symbolic pool and the evaluator of compile-time values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lemma::ir {

double real_mod(double a, double b);       // a - floor(a / b) * b
double real_ceil_div(double a, double b);  // ceil(a / b)
// What is not a number stays so, whichever operand it is.
inline double real_min(double a, double b) { return b < a || b != b ? b : a; }
inline double real_max(double a, double b) { return a < b || b != b ? b : a; }

// Rounds towards zero; an infinity becomes the int64 extreme. Empty when it is not a number or does
// not fit.
std::optional<int64_t> truncate_to_int(double value);

// True for the 22 built-in functions of SkriptND.
bool is_function(std::string_view name);
// True for `abs` and `sign`, which also take int.
bool is_int_function(std::string_view name);
// A built-in function by its IEEE value: nan or an infinity outside its domain. Empty for an
// unknown name.
std::optional<double> real_function(std::string_view name, double x);

}  // namespace lemma::ir
