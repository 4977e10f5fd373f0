// SPDX-License-Identifier: Apache-2.0
// lsp/language/view.h — a text as tokens, syntax tree and names. It is made in the moment that it
// is needed, without imports and types.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "diag/source.h"
#include "lsp/language/names.h"
#include "lsp/workspace/document.h"
#include "nnef1/syntax/tokens.h"
#include "sknd/syntax/tokens.h"

namespace lemma::lsp {

// The kinds of tokens that both languages share.
enum class TokenClass : uint8_t {
    Name,
    Keyword,
    Type,  // `int`, `tensor`
    Number,
    String,
    Block,    // `@input`
    Builtin,  // `` `sin` ``, `shape_of`
    Operator,
    Punctuation,
    Comment,
    End,
};
struct ViewToken {
    TokenClass kind{};
    TextSpan place;
};

struct View {
    Language language{};
    SharedText text;
    diag::SourceMap sources;
    diag::FileId file;
    std::vector<ViewToken> tokens;  // comments included, in order
    sknd::Module module;            // SkriptND
    nnef1::Document document;       // NNEF 1.0
    Names names;

    std::string_view source(TextSpan span) const {
        return std::string_view(*text).substr(span.begin, span.end - span.begin);
    }
    std::string_view source(Span span) const { return source(TextSpan{span.begin, span.end}); }
    // The index of the definition that contains the offset or begins last before it; -1: none.
    int definition_at(uint32_t offset) const;
    // The comment lines directly above the offset, as written, without `#`.
    std::string comment_above(uint32_t offset) const;
};
std::shared_ptr<const View> make_view(SharedText text, Language language);

}  // namespace lemma::lsp
