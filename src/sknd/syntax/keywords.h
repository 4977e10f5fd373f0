// sknd/syntax/keywords.h — tells keywords from identifiers by one look into a table.
#pragma once

#include <array>
#include <string_view>

#include "base/check.h"
#include "sknd/syntax/tokens.h"

namespace lemma::sknd {

struct Keyword {
    std::string_view text;
    TokenKind kind = TokenKind::Identifier;
};
inline constexpr Keyword kKeywords[] = {
    {"import", TokenKind::KwImport},
    {"graph", TokenKind::KwGraph},
    {"public", TokenKind::KwPublic},
    {"operator", TokenKind::KwOperator},
    {"optional", TokenKind::KwOptional},
    {"type", TokenKind::KwType},
    {"arith", TokenKind::KwArith},
    {"num", TokenKind::KwNum},
    {"int", TokenKind::KwInt},
    {"real", TokenKind::KwReal},
    {"bool", TokenKind::KwBool},
    {"str", TokenKind::KwStr},
    {"inf", TokenKind::KwInf},
    {"pi", TokenKind::KwPi},
    {"true", TokenKind::KwTrue},
    {"false", TokenKind::KwFalse},
    {"as", TokenKind::KwAs},
    {"if", TokenKind::KwIf},
    {"then", TokenKind::KwThen},
    {"else", TokenKind::KwElse},
    {"elif", TokenKind::KwElif},
    {"do", TokenKind::KwDo},
    {"for", TokenKind::KwFor},
    {"while", TokenKind::KwWhile},
    {"with", TokenKind::KwWith},
    {"yield", TokenKind::KwYield},
    {"unroll", TokenKind::KwUnroll},
    {"static", TokenKind::KwStatic},
    {"dynamic", TokenKind::KwDynamic},
};

// Gives each keyword a slot of its own; make_keyword_table proves it at compile time.
constexpr size_t keyword_slot(std::string_view word) {
    const auto at = [&](size_t i) { return static_cast<uint8_t>(word[i]); };
    return (at(0) + 13u * at(1) + at(word.size() - 1)) % 64;
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
inline constexpr std::array<Keyword, 64> kKeywordTable = make_keyword_table();

inline TokenKind word_kind(std::string_view word) {
    if (word.size() < 2 || word.size() > 8) return TokenKind::Identifier;
    const Keyword& keyword = kKeywordTable[keyword_slot(word)];
    return keyword.text == word ? keyword.kind : TokenKind::Identifier;
}

}  // namespace lemma::sknd
