// sknd/syntax/lexer.h — source text to tokens. Never fails: what cannot be a token is reported and
// becomes TokenKind::Bad, and lexing goes on behind it.
#pragma once

#include <span>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "sknd/syntax/tokens.h"

namespace lemma::sknd {

// Reports TooLarge and stops at `max_tokens`. Passes over the ranges to skip, which are in order
// and begin and end between tokens.
TokenList lex(const diag::SourceMap& sources,
              diag::FileId file,
              Diagnostics& diag,
              size_t max_tokens = SIZE_MAX,
              std::span<const TextRange> skipped = {});

// The tokens of the bytes [begin, end) of a file: an expression inside a format string.
TokenList lex_range(const diag::SourceMap& sources, Span range, Diagnostics& diag);

}  // namespace lemma::sknd
