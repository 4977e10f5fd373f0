// onnx/write.h — a Model as the bytes of a .onnx file. What was read comes back, fields that nobody
// knows included; tensors are copied as they are, so their elements keep every bit.
#pragma once

#include <string>

#include "onnx/model.h"

namespace lemma::onnx {

std::string write_model(const Model& model);

// A tensor with its elements, for initialisers and attributes of models that are made or changed.
TensorData add_tensor(const tensor::NamedTensor& tensor, Model& model);

}  // namespace lemma::onnx
