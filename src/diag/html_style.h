// SPDX-License-Identifier: Apache-2.0
// diag/html_style.h — the style sheet of HTML documents.
#pragma once

#include <string_view>

namespace lemma::diag {

std::string_view html_style();

}  // namespace lemma::diag
