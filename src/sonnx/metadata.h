// SPDX-License-Identifier: Apache-2.0
// sonnx/metadata.h — whether texts of the metadata mean something: versions, dates, hashes,
// tolerances, and texts that only hold a place.
#pragma once

#include <string_view>

namespace lemma::sonnx {

// "TODO", "n/a", "<name>", "tbd by the owner", …
bool is_placeholder(std::string_view text);
// Numbers with dots, and a suffix: "1", "v2.4.1", "1.0-rc1+cpu", "2026.10".
bool is_version(std::string_view text);
// A day of the calendar, and a time if there is one: "2026-10-03", "2026-10-03T09:30:00Z".
bool is_date(std::string_view text);
// 64 hexadecimal digits, also after "sha256:".
bool is_sha256(std::string_view text);
// `exact`, or a positive number with its kind: "abs 1e-6", "rel <= 1e-4", "2 ulp".
bool is_criterion(std::string_view text);

}  // namespace lemma::sonnx
