// SPDX-License-Identifier: Apache-2.0
#include "text/keywords.h"

#include <gtest/gtest.h>

#include <string>

namespace lemma::text {
namespace {

enum class Kind : uint8_t { Identifier, KwIf, KwElse, KwElif, KwEnd, KwAnd };

constexpr Keyword<Kind> kWords[] = {{"if", Kind::KwIf},
                                    {"else", Kind::KwElse},
                                    {"elif", Kind::KwElif},
                                    {"end", Kind::KwEnd},
                                    {"and", Kind::KwAnd}};
constexpr KeywordTable<Kind> kTable(kWords);

TEST(Keywords, FindsEachWord) {
    for (const Keyword<Kind>& word : kWords) EXPECT_EQ(kTable.kind_of(word.text), word.kind);
}

TEST(Keywords, TakesOtherWordsForIdentifiers) {
    for (const Keyword<Kind>& word : kWords) {
        const std::string text(word.text);
        EXPECT_EQ(kTable.kind_of(text + "s"), Kind::Identifier);
        EXPECT_EQ(kTable.kind_of(text.substr(1)), Kind::Identifier);
    }
    EXPECT_EQ(kTable.kind_of(""), Kind::Identifier);
    EXPECT_EQ(kTable.kind_of("i"), Kind::Identifier);
    EXPECT_EQ(kTable.kind_of(std::string(1000, 'e')), Kind::Identifier);
}

}  // namespace
}  // namespace lemma::text
