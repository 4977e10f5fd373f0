// SPDX-License-Identifier: Apache-2.0
// tensor/files/json_file.h — small hand-written tensors as JSON: nested lists of numbers, bools or
// strings, `[[1, 2, 3], [4, 5, 6]]`. A single number has rank 0.
#pragma once

#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace lemma::tensor {

// Numbers are i64 if all are integers without a point or an exponent, else f32; bools are bool.
// `"nan"`, `"inf"` and `"-inf"` count as numbers among others.
Result<Tensor> decode_json(std::string_view text);
// One line per row of the last axis.
std::string encode_json(const Tensor& tensor);

}  // namespace lemma::tensor
