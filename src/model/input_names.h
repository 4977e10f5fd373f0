// SPDX-License-Identifier: Apache-2.0
// model/input_names.h — the error for an input that a model does not have.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace lemma::model {

// Lists the inputs of the model, and suggests a similar name.
Error no_such_input(const std::string& name, const std::vector<std::string>& inputs);

}  // namespace lemma::model
