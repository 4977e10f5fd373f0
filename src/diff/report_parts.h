// SPDX-License-Identifier: Apache-2.0
// diff/report_parts.h — parts of the JSON forms of a comparison.
#pragma once

#include <nlohmann/json.hpp>

#include "diff/compare.h"
#include "diff/numbers.h"

namespace lemma::diff {

using Json = nlohmann::ordered_json;  // keeps the order of the fields

Json change_json(const Change& change);
Json numbers_json(const Numbers& numbers);

}  // namespace lemma::diff
