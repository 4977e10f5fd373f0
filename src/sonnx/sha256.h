// SPDX-License-Identifier: Apache-2.0
// sonnx/sha256.h — the hash that identifies a model in a report (FIPS 180-4).
#pragma once

#include <string>
#include <string_view>

namespace lemma::sonnx {

// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace lemma::sonnx
