// SPDX-License-Identifier: Apache-2.0
#include "sknd/export/identifiers.h"

#include <algorithm>
#include <cctype>

#include "sknd/syntax/keywords.h"

namespace lemma::sknd {

namespace {

// `is` and `in` are keywords only where an operator is expected, but would confuse readers.
bool is_word(std::string_view text) {
    return text == "is" || text == "in" ||
           std::ranges::any_of(kKeywords, [&](const Keyword& word) { return word.text == text; });
}

}  // namespace

std::string Identifiers::make(std::string_view name) {
    std::string text;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        text += byte < 128 && std::isalnum(byte) ? c : '_';
    }
    if (text.empty() || text == "_" || std::isdigit(static_cast<unsigned char>(text[0]))) {
        text = "t" + text;
    }
    if (is_word(text)) text += '_';
    return used_.make(text);
}

}  // namespace lemma::sknd
