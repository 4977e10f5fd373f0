// SPDX-License-Identifier: Apache-2.0
#include "diag/wrap.h"

#include <algorithm>

#include "diag/utf8.h"

namespace lemma::diag {

namespace {

// The end of the word that begins at `begin`.
size_t word_end(std::string_view text, size_t begin, bool markdown) {
    size_t end = begin;
    for (bool code = false; end < text.size() && (code || text[end] != ' '); ++end) {
        if (markdown && text[end] == '`') code = !code && text.find('`', end + 1) != text.npos;
    }
    return end;
}

// In Markdown, marks such as `-` and numbers such as `1.` would begin a list or a heading.
bool may_begin_line(std::string_view word, bool markdown) {
    constexpr std::string_view kMarks = "-+*#>=~|";
    if (!markdown || word.empty()) return true;
    const size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
    const bool number =
        digits > 0 && (digits == word.size() || word[digits] == '.' || word[digits] == ')');
    return !number && !kMarks.contains(word[0]);
}

}  // namespace

std::string wrapped(std::string_view text, const WrapOptions& options) {
    std::string result;
    size_t column = 0;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = word_end(text, begin, options.markdown);
        const std::string word(text.substr(begin, end - begin));
        const size_t width = printable_columns(word);
        const bool full = column + 1 + width > options.columns;
        if (column > 0 && full && may_begin_line(word, options.markdown)) {
            result += "\n" + std::string(options.indent, ' ');
            column = options.indent;
        } else if (column > 0) {
            result += ' ';
            ++column;
        }
        result += word;
        column += width;
        begin = end + 1;
    }
    return result;
}

}  // namespace lemma::diag
