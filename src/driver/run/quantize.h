// driver/run/quantize.h — pseudo-quantisation: the quantiser of a tensor becomes an operation of
// the program, behind the one that makes the tensor. Both engines then run it like any other.
#pragma once

#include "base/result.h"
#include "driver/load.h"

namespace lemma::driver {

// Everything that read a quantised tensor reads its rounded values. Inputs, variables and constants
// keep their names; the rounded values of any other tensor take over its name.
Result<void> insert_quantizers(ir::Program& program, const Quantizers& quantizers);

}  // namespace lemma::driver
