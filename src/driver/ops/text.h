// driver/ops/text.h — operators for the terminal, and for tools.
#pragma once

#include <string>
#include <vector>

#include "driver/ops/library.h"

namespace lemma::driver {

// Names, summaries and calls, under their modules.
std::string list_text(const std::vector<ModuleText>& modules);
// All about one operator.
std::string operator_text(const OperatorText& op);
// {"modules": [{name, summary, operators: [{name, …}]}]}
std::string operators_json(const std::vector<ModuleText>& modules);

}  // namespace lemma::driver
