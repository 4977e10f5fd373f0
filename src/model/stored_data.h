// SPDX-License-Identifier: Apache-2.0
// model/stored_data.h — reads a .dat file of a model as the data of a variable.
#pragma once

#include <optional>
#include <string>

#include "ir/program/program.h"
#include "tensor/archive/archive.h"
#include "tensor/tensor.h"

namespace lemma::model {

// Decodes stored codes by the quantiser of the variable.
Result<std::optional<tensor::Tensor>> read_stored(const tensor::ModelSource& source,
                                                  const std::string& file,
                                                  const ir::Tensor& variable,
                                                  const tensor::SourceLimits& limits);

}  // namespace lemma::model
