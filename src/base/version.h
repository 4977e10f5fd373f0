// base/version.h — the version of the product.
#pragma once

#include <string_view>

namespace lemma {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace lemma
