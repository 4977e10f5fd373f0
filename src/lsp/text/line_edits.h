// SPDX-License-Identifier: Apache-2.0
// lsp/text/line_edits.h — the lines in which two texts differ.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lemma::lsp {

// Lines [begin, end) of the old text become `text`, which ends with a line end.
struct LineEdit {
    size_t begin = 0;
    size_t end = 0;
    std::string text;
};

// Lines are compared without their ends; new lines end like those of the old text.
std::vector<LineEdit> line_edits(std::string_view old_text, std::string_view new_text);

}  // namespace lemma::lsp
