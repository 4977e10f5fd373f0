// tensor/files/tensor_file.h — files with one tensor, of whichever format: .npy (NumPy), .dat
// (NNEF), .pb (ONNX) and .json (nested lists).
#pragma once

#include <string>

#include "tensor/files/file_io.h"
#include "tensor/tensor.h"

namespace lemma::tensor {

// The ending of the name tells the format; under another name, the first bytes do, which those of
// .pb and .json cannot. Only .pb has names for tensors, the others give an empty one. Errors name
// the file.
Result<NamedTensor> read_tensor_file(const std::string& path, FileKind kind = FileKind::Regular);
// The ending of the name tells the format.
Result<void> write_tensor_file(const std::string& path, const NamedTensor& named);

}  // namespace lemma::tensor
