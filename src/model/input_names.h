// model/input_names.h — what is said about inputs that a model does not have.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace lemma::model {

// Names the inputs that there are, and the one that may have been meant.
Error no_such_input(const std::string& name, const std::vector<std::string>& inputs);

}  // namespace lemma::model
