// SPDX-License-Identifier: Apache-2.0
#include "lsp/text/line_index.h"

#include <gtest/gtest.h>

#include "lsp/text/line_edits.h"
#include "lsp/text/uri.h"
#include "lsp/workspace/document.h"

namespace lemma::lsp {
namespace {

TEST(LineIndex, CountsUnitsOfTheEncoding) {
    const std::string text = "a\U0001F600\u00e9b\nc";
    const auto at = [&](Encoding encoding) { return LineIndex(text, encoding).position(7); };
    EXPECT_EQ(at(Encoding::Utf16), (Position{0, 4}));
    EXPECT_EQ(at(Encoding::Utf8), (Position{0, 7}));
    EXPECT_EQ(at(Encoding::Utf32), (Position{0, 3}));
}

TEST(LineIndex, GoesThereAndBack) {
    const std::string text = "x\r\n\r\ny\u20ac\U0001F600z\rlast\n";
    for (const Encoding encoding : {Encoding::Utf8, Encoding::Utf16, Encoding::Utf32}) {
        const LineIndex lines(text, encoding);
        EXPECT_EQ(lines.line_count(), 5u);
        for (uint32_t line = 0; line < lines.line_count(); ++line) {
            const TextSpan span = lines.line(line);
            for (const uint32_t offset : {span.begin, span.end})
                EXPECT_EQ(lines.offset(lines.position(offset)), offset);
        }
    }
}

TEST(LineIndex, ClampsPositionsOutsideOfTheText) {
    const LineIndex lines("ab\ncd", Encoding::Utf16);
    EXPECT_EQ(lines.offset({0, 99}), 2u);
    EXPECT_EQ(lines.offset({9, 0}), 5u);
    EXPECT_EQ(lines.offset({UINT32_MAX, UINT32_MAX}), 5u);
    EXPECT_EQ(lines.position(99), (Position{1, 2}));
}

TEST(LineIndex, APositionInsideACharacterIsItsBeginning) {
    const LineIndex lines("\U0001F600x", Encoding::Utf16);
    EXPECT_EQ(lines.offset({0, 1}), 0u);
    EXPECT_EQ(lines.offset({0, 2}), 4u);
}

Document document(std::string text) {
    return Document(
        "file:///a/b%20c.sknd", Language::SkriptND, 1, std::move(text), Encoding::Utf16);
}

TEST(Document, AppliesEditsOneAfterTheOther) {
    Document text = document("one\ntwo\n");
    EXPECT_EQ(text.path(), "/a/b c.sknd");
    ASSERT_TRUE(text.apply(
        {{Position{0, 3}, Position{1, 0}, " "}, {Position{0, 0}, Position{0, 0}, "\U0001F600"}},
        2,
        100));
    EXPECT_EQ(text.text(), "\U0001F600one two\n");
    EXPECT_EQ(text.version(), 2);
    ASSERT_TRUE(text.apply({{Position{0, 2}, Position{0, 5}, "ONE"}}, 3, 100));
    EXPECT_EQ(text.text(), "\U0001F600ONE two\n");
    ASSERT_TRUE(text.apply({{{}, {}, "all"}}, 4, 100));
    EXPECT_EQ(text.text(), "all");
}

TEST(Document, StaysAsItIsIfItWouldGrowTooLarge) {
    Document text = document("one");
    EXPECT_FALSE(text.apply({{Position{0, 0}, Position{0, 0}, std::string(98, 'x')}}, 2, 100));
    EXPECT_EQ(text.text(), "one");
    EXPECT_EQ(text.version(), 1);
}

TEST(Uri, GoesThereAndBack) {
    for (const std::string path : {"/a/b.sknd", "/a b/\u00e9%25#?.sknd"}) {
        EXPECT_EQ(path_of_uri(uri_of_path(path)), path);
    }
    EXPECT_EQ(path_of_uri("file:///a/../b/./c"), "/b/c");
    EXPECT_EQ(path_of_uri("file://other/a"), "");
    EXPECT_EQ(path_of_uri("untitled:a"), "");
    EXPECT_EQ(path_of_uri("file:///a%00b"), "");
}

std::string applied(const std::string& old_text, const std::string& new_text) {
    std::string result = old_text;
    const auto edits = line_edits(old_text, new_text);
    const LineIndex lines(old_text, Encoding::Utf8);
    const auto offset = [&](size_t line) { return lines.offset({static_cast<uint32_t>(line), 0}); };
    for (size_t i = edits.size(); i-- > 0;) {
        const uint32_t begin = offset(edits[i].begin);
        const uint32_t end = edits[i].end >= lines.line_count()
                                 ? static_cast<uint32_t>(old_text.size())
                                 : offset(edits[i].end);
        result.replace(begin, end - begin, edits[i].text);
    }
    return result;
}

TEST(LineEdits, TurnOneTextIntoTheOther) {
    const std::vector<std::string> texts = {
        "", "a\n", "a\nb\nc\n", "a\nx\nc\n", "b\n", "a\na\nb\n", "c\nb\na\n", "a\nb\nc\nd\ne\n"};
    for (const std::string& from : texts) {
        for (const std::string& to : texts) EXPECT_EQ(applied(from, to), to) << from << "->" << to;
    }
    EXPECT_EQ(applied("a\nb", "a\nb\n"), "a\nb\n");
    EXPECT_EQ(line_edits("a\nb\nc\nd\n", "a\nx\nc\ny\n").size(), 2u);
}

TEST(LineEdits, KeepTheLineEnds) {
    const auto edits = line_edits("a\r\n b\r\n", "a\nb\n");
    ASSERT_EQ(edits.size(), 1u);
    EXPECT_EQ(edits[0].text, "b\r\n");
}

}  // namespace
}  // namespace lemma::lsp
