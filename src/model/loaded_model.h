// SPDX-License-Identifier: Apache-2.0
// model/loaded_model.h — a model of any format as one program, with the data of its variables.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/program/program.h"
#include "model/find_model.h"
#include "model/finding.h"
#include "tensor/tensor.h"

namespace lemma::model {

// Reads the data of a variable, in its dtype and shape; nothing if the model has none.
using DataReader = std::function<Result<std::optional<tensor::Tensor>>(const ir::Tensor&)>;

// By the names of tensors: a program from `x` to `y` that rounds values as the model says.
using Quantizers = std::map<std::string, ir::Program>;

// What a file says about itself, by the names of the format: `producer_name`, `ir_version`.
using Metadata = std::vector<std::pair<std::string, std::string>>;

struct LoadedModel {
    ModelFile file;
    diag::FileId source;    // of the main file, for reports without a better place
    sknd::Package package;  // the definitions that the program was composed from
    ir::Program program;
    DataReader data;
    std::vector<std::string> deciding;  // inputs whose values the program was made for (ONNX)
    Metadata metadata;                  // ONNX only
    // Names in the file of tensors that the program calls otherwise (ONNX): an `Identity` passes
    // its input on under another name.
    std::map<std::string, std::string> aliases;
    std::function<std::string(const ir::Tensor&)> data_name;  // file to write a variable to
    // Empty if one cannot be made, which is reported.
    std::function<std::optional<Quantizers>(const LoadedModel&, Finding&)> quantizers;
};

}  // namespace lemma::model
