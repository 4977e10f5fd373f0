// SPDX-License-Identifier: Apache-2.0
// driver/explain/pages.h — the pages of docs/errors, as part of the program.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace lemma::driver {

struct ErrorPage {
    std::string_view kind;
    std::string_view text;  // Markdown: a heading, `Error: …`, and paragraphs
};
// Sorted by kind.
std::span<const ErrorPage> error_pages();

// The line below the heading, without its end.
std::string summary_of(const ErrorPage& page);

struct TerminalStyle {
    size_t columns = 100;
    bool colour = false;
};
// Markdown as text for a terminal: code is indented, links have no targets, and paragraphs are
// broken to the width.
std::string terminal_text(std::string_view markdown, const TerminalStyle& style);

}  // namespace lemma::driver
