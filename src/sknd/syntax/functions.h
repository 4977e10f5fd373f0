// SPDX-License-Identifier: Apache-2.0
// sknd/syntax/functions.h — the built-in functions of SkriptND.
#pragma once

#include <string_view>
#include <vector>

namespace lemma::sknd {

// The functions that may be called without back-ticks.
bool is_builtin_function(std::string_view name);
const std::vector<std::string_view>& builtin_functions();

}  // namespace lemma::sknd
