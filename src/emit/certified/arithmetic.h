// SPDX-License-Identifier: Apache-2.0
// emit/certified/arithmetic.h — the arithmetic of certified C: one C function with a name for each
// operation of the loop IR. Contracts use the same names and state no axioms about them.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "loop/ir/node.h"

namespace lemma::emit {

// The name of the function for an operation on values of the kind: `sx_add`, `sx_addf`, `sx_addi`.
// Empty if it has none.
std::string function_of(loop::Op op, loop::Kind kind);
std::string library_function(const char* name, loop::Kind kind);
// Conversions between a value and an element of a tensor: `sx_i8`, `sx_from_f16`. Empty if the
// element is the value.
std::string storing_function(tensor::DType dtype, loop::Kind kind);
std::string loading_function(tensor::DType dtype);

// The functions that occur in C or ACSL text: `sx_add` for `sx_add(…)` and `sx_add_of(…)`.
std::set<std::string> used_arithmetic(std::string_view text);
// `sx.h` and `sx.c` with these functions. What only they call is static in `sx.c`.
std::string arithmetic_header(const std::set<std::string>& used);
std::string arithmetic_source(const std::set<std::string>& used);

}  // namespace lemma::emit
