// SPDX-License-Identifier: Apache-2.0
// diag/json_text.h — readable JSON: values that fit on a line are not split.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lemma::diag {

// Ends with a newline. Invalid UTF-8 becomes replacement characters.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace lemma::diag
