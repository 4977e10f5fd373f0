// SPDX-License-Identifier: Apache-2.0
// onnx/external.h — the data of a model in a second file, for models too large for protocol
// buffers.
#pragma once

#include <string>
#include <vector>

#include "onnx/model.h"
#include "tensor/files/file_parts.h"

namespace lemma::onnx {

// The size of all tensor data in the model's file, in bytes.
int64_t tensor_bytes(const Model& model);

// Moves the elements of initialisers of a kilobyte or more out of the model. The tensors then refer
// to the file `location`, a name without folders. Returns the content of that file as views of
// bytes that the model keeps.
std::vector<tensor::FilePart> move_out(const std::string& location, Model& model);

}  // namespace lemma::onnx
