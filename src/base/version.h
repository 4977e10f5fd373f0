// SPDX-License-Identifier: Apache-2.0
// base/version.h — the version of the product, as `project` in CMakeLists.txt defines it.
#pragma once

#include <string_view>

namespace lemma {

extern const std::string_view kVersion;  // "1.2.3"; a zero byte follows

}  // namespace lemma
