// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "driver/driver.h"
#include "driver/explain/pages.h"

namespace lemma::driver {

namespace {

Outcome explain(std::vector<std::string> words, Terminal terminal = {}) {
    words.insert(words.begin(), "explain");
    std::istringstream none;
    return run(words, std::move(terminal), none);
}

TEST(Explain, ShowsAPage) {
    const Outcome page = explain({"bad-block"});
    EXPECT_EQ(page.status, 0);
    EXPECT_TRUE(page.out.starts_with("bad-block\n\nError: a block that this kind of definition"));
    EXPECT_NE(page.out.find("\n    graph main {\n        @input"), std::string::npos) << page.out;
    EXPECT_EQ(page.out.find("```"), std::string::npos);
    EXPECT_EQ(explain({"[bad-block]"}).out, page.out);
}

TEST(Explain, KeepsToTheWidthOfTheTerminal) {
    for (const ErrorPage& page : error_pages()) {
        std::istringstream text(terminal_text(page.text, {.columns = 60}));
        for (std::string line; std::getline(text, line);) {
            const bool prose = !line.starts_with(" ") && line.find(' ') != std::string::npos;
            if (prose) {
                EXPECT_LE(line.size(), 75) << page.kind << ": " << line;
            }
        }
    }
}

TEST(Explain, UsesColoursOnTerminalsAlone) {
    EXPECT_EQ(explain({"bad-block"}).out.find('\x1b'), std::string::npos);
    EXPECT_NE(explain({"bad-block"}, {.out = true}).out.find('\x1b'), std::string::npos);
    EXPECT_EQ(explain({"bad-block", "--color=never"}, {.out = true}).out.find('\x1b'),
              std::string::npos);
}

TEST(Explain, ListsAllKinds) {
    const Outcome list = explain({});
    const auto json = nlohmann::json::parse(explain({"--json"}).out);
    EXPECT_EQ(json.size(), error_pages().size());
    EXPECT_GE(json.size(), 100);
    for (const auto& page : json) {
        EXPECT_NE(list.out.find(page["kind"].get<std::string>() + " "), std::string::npos);
        EXPECT_FALSE(page["summary"].get<std::string>().empty());
    }
}

TEST(Explain, KnowsTheRulesOfTheSafetyProfile) {
    const Outcome rule = explain({"[sonnx-GR4]"});
    EXPECT_EQ(rule.status, 0) << rule.err;
    EXPECT_TRUE(rule.out.starts_with("sonnx-GR4\n")) << rule.out;
    EXPECT_NE(rule.out.find("A rule of the safety profile"), std::string::npos);
    EXPECT_EQ(explain({"sonnx-ZZ9"}).status, 2);
}

TEST(Explain, SuggestsAKind) {
    const Outcome missing = explain({"bad-blok"});
    EXPECT_EQ(missing.status, 2);
    EXPECT_EQ(missing.err, "lemma: there is no error `bad-blok`; did you mean `bad-block`?\n");
    EXPECT_NE(explain({"zzz"}).err.find("`lemma explain` lists"), std::string::npos);
}

TEST(TerminalText, ReadsTheMarkdownOfThePages) {
    const char* const markdown =
        "# a\n\nSee [b](b.md) and `[c](d)`.\n\n- one\n  more\n- two\n\n| x | y |\n|---|---|\n"
        "| `\\|i\\|` | z |\n\n    code\n";
    EXPECT_EQ(terminal_text(markdown, {}),
              "a\n\nSee b and `[c](d)`.\n\n- one more\n- two\n\n    x      y\n    `|i|`  z\n\n"
              "    code\n");
}

}  // namespace

}  // namespace lemma::driver
