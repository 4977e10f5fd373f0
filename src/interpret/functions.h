// SPDX-License-Identifier: Apache-2.0
// interpret/functions.h — the built-in functions of formulas, in double.
#pragma once

#include <string_view>

namespace lemma::interpret {

// Null for an unknown name.
double (*find_function(std::string_view name))(double);

}  // namespace lemma::interpret
