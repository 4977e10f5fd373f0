// SPDX-License-Identifier: Apache-2.0
// sknd/syntax/tokens.h — tokens of SkriptND in both spellings (`<<` and `<?`, `` `sin` `` and
// `sin`).
#pragma once

#include <cstdint>
#include <string_view>

#include "text/tokens.h"

namespace lemma::sknd {

enum class TokenKind : uint8_t {
    EndOfFile,
    Bad,         // reported by the lexer; the parser skips past it without a second report
    Identifier,  // also `is` and `in`: the parser decides by position
    Integer,
    Real,
    String,   // one literal with its quotes; the parser joins neighbours
    Block,    // `@name`
    Builtin,  // `` `name` ``
    // keywords
    KwImport,
    KwGraph,
    KwPublic,
    KwOperator,
    KwOptional,
    KwType,
    KwArith,
    KwNum,
    KwInt,
    KwReal,
    KwBool,
    KwStr,
    KwInf,
    KwPi,
    KwTrue,
    KwFalse,
    KwAs,
    KwIf,
    KwThen,
    KwElse,
    KwElif,
    KwDo,
    KwFor,
    KwWhile,
    KwWith,
    KwYield,
    KwUnroll,
    KwStatic,
    KwDynamic,
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
    Dot,
    DotDot,
    Ellipsis,
    Tilde,
    Question,
    QuestionQuestion,
    Bar,
    // operators
    Plus,
    Minus,
    Star,
    StarStar,
    Slash,
    Backslash,
    Percent,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    EqualEqual,
    NotEqual,
    AndAnd,
    OrOr,
    Caret,
    Bang,
    Implies,
    Arrow /* -> */,
    Substitute /* <- */,
    Remap /* <> */,
    Min /* << or <? */,
    Max /* >> or >? */,
    // assignments
    Assign,
    PlusAssign,
    StarAssign,
    AndAssign,
    OrAssign,
    ColonAssign,
    MinAssign /* <?= */,
    MaxAssign /* >?= */,
};

using Token = text::Token<TokenKind>;
using TokenList = text::TokenList<TokenKind>;
using text::Comment;
using text::TextRange;

bool is_keyword(TokenKind kind);
// Words for messages: "`+=`", "an identifier", "the end of the file".
std::string_view describe(TokenKind kind);

}  // namespace lemma::sknd
