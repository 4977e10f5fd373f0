// SPDX-License-Identifier: Apache-2.0
// session/widen.h — exact arithmetic inside operations: an operation of the model rounds its
// results to f32 once, not at each step of its definition.
#pragma once

#include "ir/program/program.h"

namespace lemma::session {

// f32 tensors that one primitive makes and others read inside the same compound become f64. For the
// interpreter and the compiler's strict mode, which agree bit by bit before and after.
void widen_inner_tensors(ir::Program& program);

}  // namespace lemma::session
