// SPDX-License-Identifier: Apache-2.0
// tensor/files/npy_file.h — arrays in NumPy's .npy format, versions 1 to 3.
#pragma once

#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace lemma::tensor {

// Reads both byte orders and both element orders. Text of a fixed width (`<U5` in UTF-32, `S5`)
// becomes strings without the padding zeros. Python objects and dtypes without a counterpart in
// memory are errors. Errors call the file `it`.
Result<Tensor> decode_npy(std::string_view bytes);
// NumPy has no bf16, so it is written as f32. Strings must be UTF-8.
Result<std::string> encode_npy(const Tensor& tensor);

// Errors name the file.
Result<Tensor> read_npy(const std::string& path);
Result<void> write_npy(const std::string& path, const Tensor& tensor);

}  // namespace lemma::tensor
