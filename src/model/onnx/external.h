// SPDX-License-Identifier: Apache-2.0
// model/onnx/external.h — the data of a model in other files, which are mapped, not read.
#pragma once

#include <memory>
#include <string>

#include "tensor/archive/archive.h"
#include "tensor/files/pb_file.h"

namespace lemma::model {

// Returns parts of files in the model's folder, and of no other folder, links included. It keeps
// the files open, and is for one thread.
tensor::ReadExternal external_reader(const std::string& model_path);
// The same for a model in memory.
tensor::ReadExternal external_reader(std::shared_ptr<const tensor::ModelSource> source);

}  // namespace lemma::model
