// tensor/files/json_file.h — tensors as JSON, to write small ones by hand: nested lists of numbers,
// bools or strings, `[[1, 2, 3], [4, 5, 6]]`; a number alone has rank 0.
#pragma once

#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace lemma::tensor {

// Numbers are i64 when all are whole, without a point or an exponent, and f32 else; bools are bool.
// `"nan"`, `"inf"` and `"-inf"` count as numbers beside others.
Result<Tensor> decode_json(std::string_view text);
// A line per row of the last axis.
std::string encode_json(const Tensor& tensor);

}  // namespace lemma::tensor
