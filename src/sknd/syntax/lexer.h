// SPDX-License-Identifier: Apache-2.0
// sknd/syntax/lexer.h — source text to tokens. It never fails: it reports text that cannot be a
// token, makes it TokenKind::Bad, and continues after it.
#pragma once

#include <span>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "sknd/syntax/tokens.h"

namespace lemma::sknd {

// Reports TooLarge and stops at `max_tokens`. Skips the given ranges, which are sorted and begin
// and end between tokens.
TokenList lex(const diag::SourceMap& sources,
              diag::FileId file,
              Diagnostics& diag,
              size_t max_tokens = SIZE_MAX,
              std::span<const TextRange> skipped = {});

// The tokens of the bytes [begin, end) of a file: an expression inside a format string.
TokenList lex_range(const diag::SourceMap& sources, Span range, Diagnostics& diag);

}  // namespace lemma::sknd
