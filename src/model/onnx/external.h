// model/onnx/external.h — the data of a model in other files, which are mapped, not read.
#pragma once

#include <string>

#include "tensor/files/pb_file.h"

namespace lemma::model {

// Returns parts of files in the model's folder, and of no other folder, links included. It keeps
// the files open, and is for one thread.
tensor::ReadExternal external_reader(const std::string& model_path);

}  // namespace lemma::model
