// SPDX-License-Identifier: Apache-2.0
// ops/text.h — operators as text for the terminal and as JSON for tools.
#pragma once

#include <string>
#include <vector>

#include "ops/library.h"

namespace lemma::ops {

// Names, summaries and calls, grouped by module.
std::string list_text(const std::vector<ModuleText>& modules);
// The full description of one operator.
std::string operator_text(const OperatorText& op);
// {"modules": [{name, summary, operators: [{name, …}]}]}
std::string operators_json(const std::vector<ModuleText>& modules);

}  // namespace lemma::ops
