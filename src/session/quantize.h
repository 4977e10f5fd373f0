// SPDX-License-Identifier: Apache-2.0
// session/quantize.h — pseudo-quantisation: the quantiser of a tensor becomes an operation of the
// program, after the one that makes the tensor. Both engines run it like any other operation.
#pragma once

#include "base/result.h"
#include "model/load.h"

namespace lemma::session {

// All readers of a quantised tensor read the rounded values instead. Inputs, variables and
// constants keep their names; for any other tensor, the rounded values take over its name.
Result<void> insert_quantizers(ir::Program& program, const model::Quantizers& quantizers);

}  // namespace lemma::session
