// nnef1/lexer.h — NNEF 1.0 text to tokens. Never fails: what cannot be a token is reported and
// becomes TokenKind::Bad, and lexing goes on behind it.
#pragma once

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "nnef1/dialect.h"
#include "nnef1/tokens.h"

namespace lemma::nnef1 {

// Reports TooLarge and stops at `max_tokens`.
TokenList lex(const diag::SourceMap& sources,
              diag::FileId file,
              Dialect dialect,
              Diagnostics& diag,
              size_t max_tokens = SIZE_MAX);

}  // namespace lemma::nnef1
