// onnx/external.h — data of a model in a file beside it: what protocol buffers have no room for.
#pragma once

#include <string>
#include <vector>

#include "onnx/model.h"
#include "tensor/files/file_parts.h"

namespace lemma::onnx {

// The bytes that the tensors of the model take in its file.
int64_t tensor_bytes(const Model& model);

// Takes the elements of initialisers out of the model, those of a kilobyte and more; the tensors
// then refer to the file `location`, a name without folders. Returns what that file consists of,
// as views of bytes that the model keeps.
std::vector<tensor::FilePart> move_out(const std::string& location, Model& model);

}  // namespace lemma::onnx
