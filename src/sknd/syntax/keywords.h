// SPDX-License-Identifier: Apache-2.0
// sknd/syntax/keywords.h — the keywords of SkriptND.
#pragma once

#include <string_view>

#include "sknd/syntax/tokens.h"
#include "text/keywords.h"

namespace lemma::sknd {

using Keyword = text::Keyword<TokenKind>;
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

inline constexpr text::KeywordTable<TokenKind> kKeywordTable(kKeywords);

inline TokenKind word_kind(std::string_view word) { return kKeywordTable.kind_of(word); }

}  // namespace lemma::sknd
