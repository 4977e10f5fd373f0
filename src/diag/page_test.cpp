// SPDX-License-Identifier: Apache-2.0
#include "diag/page.h"

#include <gtest/gtest.h>

namespace lemma::diag {

namespace {

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

void fill(Page& page) {
    page.heading(1, "A & B", "top");
    page.banner(Tone::Good, "`x` is fine");
    Text text = "see ";
    text += link("row-1", "the row");
    page.paragraph(text);
    page.table({.header = {"name", "verdict"},
                .rows = {{{"a|b", badge(Tone::Bad, "fail")}, "row-1"}},
                .caption = "What was found"});
    page.list({"one", "two"}, true);
}

TEST(Page, WritesMarkdown) {
    const auto page = markdown_page();
    fill(*page);
    EXPECT_EQ(page->take(),
              "# A \\& B\n\n**`x` is fine**\n\nsee the row\n\nWhat was found\n\n"
              "| name | verdict |\n|---|---|\n| a\\|b | fail |\n\n1. one\n2. two\n");
}

TEST(Page, WritesHtml) {
    const auto page = html_page({.title = "T<", .footer = "foot \"; } body { x"});
    fill(*page);
    const std::string text = page->take();
    EXPECT_TRUE(text.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    EXPECT_TRUE(contains(text, "<title>T&lt;</title>"));
    EXPECT_TRUE(
        contains(text, "content: \"foot ;  body  x\""));  // no quote or brace ends the string
    EXPECT_TRUE(contains(text, "<h1 id=\"top\">A &amp; B</h1>"));
    EXPECT_TRUE(
        contains(text, "<p class=\"banner good\" role=\"status\"><code>x</code> is fine</p>"));
    EXPECT_TRUE(contains(text, "see <a href=\"#row-1\">the row</a>"));
    EXPECT_TRUE(contains(text, "<tr id=\"row-1\"><th scope=\"row\">a|b</th>"));
    EXPECT_TRUE(contains(text, "<span class=\"badge bad\">fail</span>"));
    EXPECT_TRUE(contains(text, "<caption>What was found</caption>"));
    EXPECT_TRUE(contains(text, "<ol>\n<li>one</li>"));
    EXPECT_FALSE(contains(text, "<script"));
}

TEST(Page, EscapesMarkup) {
    EXPECT_EQ(html_escaped("<a href='x'>&\"\n"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;0a&gt;");
    const auto page = html_page({.title = "t", .footer = ""});
    page->paragraph("`<b>` and <i>");
    page->paragraph("an odd ` <u>");
    const std::string text = page->take();
    EXPECT_TRUE(contains(text, "<code>&lt;b&gt;</code> and &lt;i&gt;"));
    EXPECT_TRUE(contains(text, "an odd ` &lt;u&gt;"));
}

TEST(Page, AnchorsAreSafeAndDistinct) {
    EXPECT_EQ(anchor_of("rule", "GR4"), "rule-GR4");
    EXPECT_EQ(anchor_of("x", "a b\"<"), "x-a_20b_22_3c");
    EXPECT_NE(anchor_of("x", "a b"), anchor_of("x", "a_20b"));
}

}  // namespace

}  // namespace lemma::diag
