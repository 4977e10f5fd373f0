// tensor/npy_file.h — arrays in NumPy's .npy format, versions 1 to 3.
#pragma once

#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace lemma::tensor {

Result<Tensor> decode_npy(std::string_view bytes);
// Strings cannot be written.
Result<std::string> encode_npy(const Tensor& tensor);

Result<Tensor> read_npy(const std::string& path);
Result<void> write_npy(const std::string& path, const Tensor& tensor);

}  // namespace lemma::tensor
