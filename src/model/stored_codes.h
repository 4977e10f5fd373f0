// SPDX-License-Identifier: Apache-2.0
// model/stored_codes.h — data files with quantised items: codes become the reals that they stand
// for, according to the variable's `@quantize` (NNEF 1.0.4, 5.2.1; SkriptND 2.14).
#pragma once

#include "base/result.h"
#include "ir/program/program.h"
#include "tensor/tensor.h"

namespace lemma::model {

// `codes` are integers. An error if the variable has no quantiser with known codes.
Result<tensor::Tensor> decode_codes(const ir::Tensor& variable, const tensor::Tensor& codes);

}  // namespace lemma::model
