// SPDX-License-Identifier: Apache-2.0
// ir/text/text_lexer.h — tokens of the text form of programs (docs/language/ir.md). Line ends
// count, except inside `(` and `[`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.h"

namespace lemma::ir {

enum class TextKind : uint8_t {
    End,
    Newline,
    Word,    // `conv1`, `nn.conv`
    Int,     // digits
    Real,    // digits with a point or an exponent
    String,  // in double quotes
    Tensor,  // `%x`, `%"odd name"~2`
    Sign,    // everything else
};

struct TextToken {
    TextKind kind{};
    uint32_t begin = 0, end = 0;
    std::string_view text;  // as written
    std::string value;      // of a string; the name of a tensor
};

// Always ends in Newline and End. Stops at the first error, which is reported.
std::vector<TextToken> lex_text(diag::FileId file, std::string_view text, Diagnostics& diag);

}  // namespace lemma::ir
