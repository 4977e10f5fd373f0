// SPDX-License-Identifier: Apache-2.0
// tensor/files/tensor_file.h — files with one tensor in any format: .npy (NumPy), .dat (NNEF), .pb
// (ONNX) and .json (nested lists).
#pragma once

#include <string>

#include "tensor/files/file_io.h"
#include "tensor/tensor.h"

namespace lemma::tensor {

// The ending of the name decides the format; with another ending, the magic number decides, which
// .pb and .json lack. Only .pb has a name for the tensor; other formats give an empty name. Errors
// name the file.
Result<NamedTensor> read_tensor_file(const std::string& path, FileKind kind = FileKind::Regular);
// The same for the content of a file; `path` decides, and is its name in errors.
Result<NamedTensor> decode_tensor_file(std::string_view bytes, const std::string& path);
// Whether the name has the ending of a format with one tensor.
bool has_tensor_ending(const std::string& path);
// The ending of the name decides the format.
Result<void> write_tensor_file(const std::string& path, const NamedTensor& named);

}  // namespace lemma::tensor
