// SPDX-License-Identifier: Apache-2.0
// text/tokens.h — tokens and comments of a text format, which defines its own kinds of tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "diag/span.h"

namespace lemma::text {

template <class Kind>
struct Token {
    Kind kind{};
    bool line_start = false;  // the first token of its line
    bool escaped = false;     // NNEF 1.0: a string or quoted identifier with escapes to resolve
    uint32_t begin = 0;
    uint32_t end = 0;
};

// A comment, from `#` to the end of its line; the range leaves out the line end.
struct Comment {
    uint32_t begin = 0;
    uint32_t end = 0;
    bool own_line = false;  // nothing but white space before it
};

// Bytes of a text.
struct TextRange {
    uint32_t begin = 0;
    uint32_t end = 0;
};

template <class Kind>
struct TokenList {
    diag::FileId file;
    std::vector<Token<Kind>> tokens;  // closed by EndOfFile
    std::vector<Comment> comments;
};

}  // namespace lemma::text
