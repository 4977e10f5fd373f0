// SPDX-License-Identifier: Apache-2.0
// diff/side.h — one of two models to compare: its program and the reader of its data.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "ir/program/program.h"
#include "tensor/tensor.h"

namespace lemma::diff {

// Nothing if the model has no data for the variable.
using DataReader = std::function<Result<std::optional<tensor::Tensor>>(const ir::Tensor&)>;

struct Side {
    std::string path;    // as the user named it
    std::string format;  // `onnx`, `nnef1`, `sknd` or `ir`
    ir::Program program;
    DataReader data;  // empty: the format has no data
};

}  // namespace lemma::diff
