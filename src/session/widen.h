// session/widen.h — exact arithmetic inside of operations: an operation that the model calls
// rounds its results to f32 once, not at each step of its definition.
#pragma once

#include "ir/program/program.h"

namespace lemma::session {

// Tensors of f32 that one primitive makes and others read inside of the same compound become f64.
// For the interpreter and the compiler's strict mode, which agree bit for bit before and after.
void widen_inner_tensors(ir::Program& program);

}  // namespace lemma::session
