// SPDX-License-Identifier: Apache-2.0
// diag/wrap.h — breaks text into lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lemma::diag {

struct WrapOptions {
    size_t columns = 100;
    size_t indent = 0;  // of all lines but the first
    // Keeps code in backticks on one line, and begins no line with a mark that starts a list, a
    // heading or a quotation.
    bool markdown = false;
};

// Breaks at spaces. The last line has no line end. A word longer than a line stays whole.
std::string wrapped(std::string_view text, const WrapOptions& options);

}  // namespace lemma::diag
