// SPDX-License-Identifier: Apache-2.0
// edit/evaluate.h — the values of tensors that depend on constants and variables alone, computed by
// the interpreter.
#pragma once

#include <vector>

#include "model/loaded_model.h"

namespace lemma::edit {

// In the order of `tensors`. An error if one of them depends on an input or has no data.
Result<std::vector<tensor::Tensor>> evaluate(const model::LoadedModel& model,
                                             const std::vector<ir::TensorId>& tensors);

}  // namespace lemma::edit
