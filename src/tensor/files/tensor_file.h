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
// The ending of the name decides the format.
Result<void> write_tensor_file(const std::string& path, const NamedTensor& named);

}  // namespace lemma::tensor
