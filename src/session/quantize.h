// session/quantize.h — pseudo-quantisation: the quantiser of a tensor becomes an operation of
// the program, behind the one that makes the tensor. Both engines then run it like any other.
#pragma once

#include "base/result.h"
#include "model/load.h"

namespace lemma::session {

// Everything that read a quantised tensor reads its rounded values. Inputs, variables and constants
// keep their names; the rounded values of any other tensor take over its name.
Result<void> insert_quantizers(ir::Program& program, const model::Quantizers& quantizers);

}  // namespace lemma::session
