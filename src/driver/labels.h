// SPDX-License-Identifier: Apache-2.0
// driver/labels.h — the names of classes, for `--labels`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace lemma::driver {

// By the number of the class; empty where a class has no name. The file has a name a line, or it is
// JSON: a list of names, or an object with the numbers as keys or as values. Keras's pairs of an id
// and a name count as the name. Errors name the file and the place.
Result<std::vector<std::string>> read_labels(const std::string& path);

}  // namespace lemma::driver
