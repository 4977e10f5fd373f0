// SPDX-License-Identifier: Apache-2.0
#include "nnef1/syntax/tokens.h"

#include "text/keywords.h"

namespace lemma::nnef1 {
namespace {

constexpr text::Keyword<TokenKind> kKeywords[] = {
    {"version", TokenKind::KwVersion},
    {"extension", TokenKind::KwExtension},
    {"graph", TokenKind::KwGraph},
    {"fragment", TokenKind::KwFragment},
    {"tensor", TokenKind::KwTensor},
    {"integer", TokenKind::KwInteger},
    {"scalar", TokenKind::KwScalar},
    {"logical", TokenKind::KwLogical},
    {"string", TokenKind::KwString},
    {"shape_of", TokenKind::KwShapeOf},
    {"length_of", TokenKind::KwLengthOf},
    {"range_of", TokenKind::KwRangeOf},
    {"for", TokenKind::KwFor},
    {"in", TokenKind::KwIn},
    {"yield", TokenKind::KwYield},
    {"if", TokenKind::KwIf},
    {"else", TokenKind::KwElse},
    {"true", TokenKind::KwTrue},
    {"false", TokenKind::KwFalse},
};

constexpr text::KeywordTable<TokenKind> kKeywordTable(kKeywords);

}  // namespace

TokenKind word_kind(std::string_view word) { return kKeywordTable.kind_of(word); }

bool is_keyword(TokenKind kind) {
    return kind >= TokenKind::KwVersion && kind <= TokenKind::KwFalse;
}

std::string_view describe(TokenKind kind) {
    switch (kind) {
        case TokenKind::EndOfFile:
            return "the end of the file";
        case TokenKind::Bad:
            return "an unreadable token";
        case TokenKind::Identifier:
        case TokenKind::QuotedIdentifier:
            return "an identifier";
        case TokenKind::Integer:
            return "an integer";
        case TokenKind::Scalar:
            return "a real number";
        case TokenKind::String:
            return "a string";
        case TokenKind::FreeText:
            return "text";
        case TokenKind::KwVersion:
            return "`version`";
        case TokenKind::KwExtension:
            return "`extension`";
        case TokenKind::KwGraph:
            return "`graph`";
        case TokenKind::KwFragment:
            return "`fragment`";
        case TokenKind::KwTensor:
            return "`tensor`";
        case TokenKind::KwInteger:
            return "`integer`";
        case TokenKind::KwScalar:
            return "`scalar`";
        case TokenKind::KwLogical:
            return "`logical`";
        case TokenKind::KwString:
            return "`string`";
        case TokenKind::KwShapeOf:
            return "`shape_of`";
        case TokenKind::KwLengthOf:
            return "`length_of`";
        case TokenKind::KwRangeOf:
            return "`range_of`";
        case TokenKind::KwFor:
            return "`for`";
        case TokenKind::KwIn:
            return "`in`";
        case TokenKind::KwYield:
            return "`yield`";
        case TokenKind::KwIf:
            return "`if`";
        case TokenKind::KwElse:
            return "`else`";
        case TokenKind::KwTrue:
            return "`true`";
        case TokenKind::KwFalse:
            return "`false`";
        case TokenKind::LParen:
            return "`(`";
        case TokenKind::RParen:
            return "`)`";
        case TokenKind::LBracket:
            return "`[`";
        case TokenKind::RBracket:
            return "`]`";
        case TokenKind::LBrace:
            return "`{`";
        case TokenKind::RBrace:
            return "`}`";
        case TokenKind::Comma:
            return "`,`";
        case TokenKind::Semicolon:
            return "`;`";
        case TokenKind::Colon:
            return "`:`";
        case TokenKind::Question:
            return "`?`";
        case TokenKind::Arrow:
            return "`->`";
        case TokenKind::Assign:
            return "`=`";
        case TokenKind::Plus:
            return "`+`";
        case TokenKind::Minus:
            return "`-`";
        case TokenKind::Star:
            return "`*`";
        case TokenKind::Slash:
            return "`/`";
        case TokenKind::Caret:
            return "`^`";
        case TokenKind::Less:
            return "`<`";
        case TokenKind::LessEqual:
            return "`<=`";
        case TokenKind::Greater:
            return "`>`";
        case TokenKind::GreaterEqual:
            return "`>=`";
        case TokenKind::EqualEqual:
            return "`==`";
        case TokenKind::NotEqual:
            return "`!=`";
        case TokenKind::AndAnd:
            return "`&&`";
        case TokenKind::OrOr:
            return "`||`";
        case TokenKind::Bang:
            return "`!`";
    }
    return "a token";
}

}  // namespace lemma::nnef1
