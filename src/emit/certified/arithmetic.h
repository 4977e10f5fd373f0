// emit/certified/arithmetic.h — the arithmetic of certified C: one C function with a name for each
// operation of the loop IR. Contracts use the same names and state no axioms about them.
#pragma once

#include <string>

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

// `sx.h` and `sx.c`; they are the same for all models.
const std::string& arithmetic_header();
const std::string& arithmetic_source();

}  // namespace lemma::emit
