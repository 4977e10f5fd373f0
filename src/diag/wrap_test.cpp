// SPDX-License-Identifier: Apache-2.0
#include "diag/wrap.h"

#include <gtest/gtest.h>

namespace lemma::diag {
namespace {

TEST(Wrap, BreaksAtSpacesAndIndents) {
    EXPECT_EQ(wrapped("one two three", {.columns = 8, .indent = 2}), "one two\n  three");
    EXPECT_EQ(wrapped("", {}), "");
}

TEST(Wrap, KeepsLongWordsWhole) {
    EXPECT_EQ(wrapped("a incomprehensible b", {.columns = 6}), "a\nincomprehensible\nb");
}

TEST(Wrap, CountsCharactersNotBytes) {
    EXPECT_EQ(wrapped("äöü äöü äöü", {.columns = 7}), "äöü äöü\näöü");
}

TEST(Wrap, KeepsCodeOfMarkdownWhole) {
    EXPECT_EQ(wrapped("if `a - b` holds", {.columns = 8, .markdown = true}), "if\n`a - b`\nholds");
    // One backtick is no code.
    EXPECT_EQ(wrapped("one ` two three", {.columns = 6, .markdown = true}), "one `\ntwo\nthree");
}

TEST(Wrap, BeginsNoLineOfMarkdownWithAMark) {
    EXPECT_EQ(wrapped("one - two", {.columns = 4, .markdown = true}), "one -\ntwo");
    EXPECT_EQ(wrapped("one # two", {.columns = 4, .markdown = true}), "one #\ntwo");
    EXPECT_EQ(wrapped("one 2. two", {.columns = 4, .markdown = true}), "one 2.\ntwo");
    EXPECT_EQ(wrapped("one - two", {.columns = 4}), "one\n-\ntwo");
}

}  // namespace
}  // namespace lemma::diag
