// SPDX-License-Identifier: Apache-2.0
// sonnx/report/evidence_json.h — reads fields of evidence files, which anyone may have written.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "sonnx/report/evidence.h"

namespace lemma::sonnx {

std::unexpected<Error> bad_evidence(const EvidenceFile& file, std::string_view why);
// Empty if there is no such text.
std::string text_field(const nlohmann::json& object, const char* key);
// The texts of a list; others are left out.
std::vector<std::string> text_fields(const nlohmann::json& object, const char* key);
// The list under `key` of a document; its size has a limit.
Result<const nlohmann::json*> list_field(const EvidenceFile& file,
                                         const nlohmann::json& document,
                                         const char* key);

}  // namespace lemma::sonnx
