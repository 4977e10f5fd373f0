// SPDX-License-Identifier: Apache-2.0
// onnx/write.h — writes a Model as the bytes of a .onnx file. Unknown fields that were read are
// written again. Tensors are copied, so their elements keep every bit.
#pragma once

#include <string>

#include "onnx/model.h"

namespace lemma::onnx {

std::string write_model(const Model& model);

// Adds a tensor with its elements, for initialisers and attributes of new or changed models.
TensorData add_tensor(const tensor::NamedTensor& tensor, Model& model);

}  // namespace lemma::onnx
