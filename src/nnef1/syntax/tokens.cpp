#include "nnef1/syntax/tokens.h"

#include <array>

#include "base/check.h"

namespace lemma::nnef1 {
namespace {

struct Keyword {
    std::string_view text;
    TokenKind kind = TokenKind::Identifier;
};
constexpr Keyword kKeywords[] = {
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

// Gives each keyword a slot of its own; make_keyword_table proves it at compile time.
constexpr size_t keyword_slot(std::string_view word) {
    const auto at = [&](size_t i) { return static_cast<uint8_t>(word[i]); };
    return (at(0) + 4u * at(1) + at(word.size() - 1) + word.size()) % 64;
}

constexpr std::array<Keyword, 64> make_keyword_table() {
    std::array<Keyword, 64> table{};
    for (const Keyword& keyword : kKeywords) {
        Keyword& slot = table[keyword_slot(keyword.text)];
        LEMMA_CHECK(slot.text.empty());  // or the table is no constant
        slot = keyword;
    }
    return table;
}
constexpr std::array<Keyword, 64> kKeywordTable = make_keyword_table();

}  // namespace

TokenKind word_kind(std::string_view word) {
    if (word.size() < 2 || word.size() > 9) return TokenKind::Identifier;
    const Keyword& keyword = kKeywordTable[keyword_slot(word)];
    return keyword.text == word ? keyword.kind : TokenKind::Identifier;
}

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
