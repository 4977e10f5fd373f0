// model/stored_codes.h — data files with quantised items: the codes become the reals that they
// stand for, by what `@quantize` says about the variable (NNEF 1.0.4, 5.2.1; SkriptND 2.14).
#pragma once

#include "base/result.h"
#include "ir/program/program.h"
#include "tensor/tensor.h"

namespace lemma::model {

// `codes` are integers. An error if the variable has no quantiser whose codes are known.
Result<tensor::Tensor> decode_codes(const ir::Tensor& variable, const tensor::Tensor& codes);

}  // namespace lemma::model
