// sknd/syntax/tokens.h — tokens of SkriptND in both spellings (`<<` and `<?`, `` `sin` `` and
// `sin`).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "diag/span.h"

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

struct Token {
    TokenKind kind = TokenKind::EndOfFile;
    bool line_start = false;  // the first token of its line
    uint32_t begin = 0;
    uint32_t end = 0;
};

// Bytes of a text.
struct TextRange {
    uint32_t begin = 0;
    uint32_t end = 0;
};

// A comment, from `#` to the end of its line; the span leaves out the line end.
struct Comment {
    uint32_t begin = 0;
    uint32_t end = 0;
    bool own_line = false;  // nothing but white space before it
};

struct TokenList {
    diag::FileId file;
    std::vector<Token> tokens;  // closed by EndOfFile
    std::vector<Comment> comments;
};

bool is_keyword(TokenKind kind);
// "`+=`", "an identifier", "the end of the file": the words for messages.
std::string_view describe(TokenKind kind);

}  // namespace lemma::sknd
