// sknd/syntax/lexer.h — source text to tokens. Never fails: what cannot be a token is reported and
// becomes TokenKind::Bad, and lexing goes on behind it.
#pragma once

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "sknd/syntax/tokens.h"

namespace lemma::sknd {

// Reports TooLarge and stops at `max_tokens`.
TokenList lex(const diag::SourceMap& sources,
              diag::FileId file,
              Diagnostics& diag,
              size_t max_tokens = SIZE_MAX);

// The tokens of the bytes [begin, end) of a file: an expression inside a format string.
TokenList lex_range(const diag::SourceMap& sources, Span range, Diagnostics& diag);

}  // namespace lemma::sknd
