// SPDX-License-Identifier: Apache-2.0
// nnef1/syntax/lexer.h — NNEF 1.0 text to tokens. It never fails: it reports text that cannot be a
// token, makes it TokenKind::Bad, and continues after it.
#pragma once

#include <memory>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "nnef1/syntax/dialect.h"
#include "nnef1/syntax/tokens.h"

namespace lemma::nnef1 {

// Reports TooLarge and stops at `max_tokens`.
TokenList lex(const diag::SourceMap& sources,
              diag::FileId file,
              Dialect dialect,
              Diagnostics& diag,
              size_t max_tokens = SIZE_MAX);

// The same in pieces: the tokens of a text of many megabytes take more memory than its tree.
class TokenStream {
public:
    TokenStream(const diag::SourceMap& sources,
                diag::FileId file,
                Dialect dialect,
                Diagnostics& diag,
                size_t max_tokens);
    ~TokenStream();
    TokenStream(const TokenStream&) = delete;
    TokenStream& operator=(const TokenStream&) = delete;

    // The tokens read and not dropped; the very last one is EndOfFile.
    const std::vector<Token>& tokens() const;
    void read(size_t count);
    // Drops the first tokens, but never all.
    void drop(size_t count);
    std::vector<Comment> take_comments();

private:
    class Lexer;
    friend TokenList lex(const diag::SourceMap& sources,
                         diag::FileId file,
                         Dialect dialect,
                         Diagnostics& diag,
                         size_t max_tokens);
    std::unique_ptr<Lexer> lexer_;
};

}  // namespace lemma::nnef1
