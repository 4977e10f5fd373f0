// SPDX-License-Identifier: Apache-2.0
// nnef1/syntax/tokens.h — tokens of NNEF 1.0 text.
#pragma once

#include <cstdint>
#include <string_view>

#include "text/tokens.h"

namespace lemma::nnef1 {

enum class TokenKind : uint8_t {
    EndOfFile,
    Bad,  // reported by the lexer; the parser skips past it without a second report
    Identifier,
    QuotedIdentifier,  // tract: i"…"
    Integer,
    Scalar,
    String,    // with its quotes
    FreeText,  // tract: the text after the name of an extension, up to the `;`
    // keywords
    KwVersion,
    KwExtension,
    KwGraph,
    KwFragment,
    KwTensor,
    KwInteger,
    KwScalar,
    KwLogical,
    KwString,
    KwShapeOf,
    KwLengthOf,
    KwRangeOf,
    KwFor,
    KwIn,
    KwYield,
    KwIf,
    KwElse,
    KwTrue,
    KwFalse,
    // brackets and punctuation
    LParen,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    Comma,
    Semicolon,
    Colon,
    Question,
    Arrow,
    Assign,
    // operators
    Plus,
    Minus,
    Star,
    Slash,
    Caret,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    EqualEqual,
    NotEqual,
    AndAnd,
    OrOr,
    Bang,
};

using Token = text::Token<TokenKind>;
using TokenList = text::TokenList<TokenKind>;
using text::Comment;

bool is_keyword(TokenKind kind);
// Words for messages: "`->`", "an identifier", "the end of the file".
std::string_view describe(TokenKind kind);

// The kind of a word: a keyword, or an identifier.
TokenKind word_kind(std::string_view word);

}  // namespace lemma::nnef1
