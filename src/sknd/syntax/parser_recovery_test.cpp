// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sknd/syntax/parser_testing.h"

namespace lemma::sknd::testing {
namespace {

// ---- Recovery ---------------------------------------------------------------------------------

TEST(Parser, ReportsEveryBrokenStatementOnce) {
    EXPECT_EQ(parse_in("@using", "a = * 1;\nb = (1;\nc = 1\nd = 2;\ne = 1);").findings(),
              "4:5 unexpected-token, 5:5 unclosed-bracket, 6:5 missing-semicolon, "
              "8:6 unexpected-token");
    EXPECT_EQ(parse_in("@compose", "a = f{k: 1}(x);\nb = f{k=, l=1}(x);\nc = f{k=1(x);").findings(),
              "4:8 unexpected-token, 5:9 unexpected-token, 6:6 unclosed-bracket");
}

TEST(Parser, BlamesTheStatementThatLacksItsEnd) {
    EXPECT_EQ(parse_in("@using", "a = p\n[b, c..] = p;").findings(), "4:5 missing-semicolon");
    EXPECT_EQ(parse_in("@lower", "y[i,] = x[i,]\ni < n;").findings(), "4:13 unexpected-token");
    EXPECT_EQ(parse("import\nimport nn;").findings(), "1:1 unexpected-token");
    EXPECT_EQ(parse_in("@compose", "a = fk=1}(x);\nb = ;").findings(),
              "4:7 unexpected-token, 5:5 unexpected-token");
    EXPECT_EQ(parse_in("@compose", "a = do yield x; };\nb = f(a);").findings(),
              "4:5 unexpected-token");
}

TEST(Parser, ReportsAnUnclosedBodyOnceAndGoesOn) {
    EXPECT_EQ(parse("operator f {\n@input {\nx: real[];\n@output {\n}\n}\noperator g { @nope {} }")
                  .findings(),
              "2:8 unclosed-bracket, 7:14 unknown-block");
    EXPECT_EQ(parse("operator f {\n@input {\nx: real[];\n").findings(), "2:8 unclosed-bracket");
    EXPECT_EQ(
        parse("operator f {\n    @input {\n    }\n    @output {\n}\noperator g {}").findings(),
        "4:13 unclosed-bracket");
    EXPECT_EQ(parse("graph g {\n@compose {\ny = if c then { z = ").findings(),
              "3:21 unexpected-token");
}

TEST(Parser, ReportsBlocksThatAreUnknownOrTwice) {
    const Parsed parsed =
        parse("operator f { @inputs { x: real[]; } @using {} @using { a = 1; } }");
    EXPECT_EQ(parsed.findings(), "1:14 unknown-block, 1:47 duplicate-block");
    EXPECT_EQ(parsed.diag.items()[0].fixes.at(0).replacement, "@input");
    EXPECT_EQ(parsed.def().blocks.size(), 1u);
}

TEST(Parser, TellsKeywordsThatWereTakenForNames) {
    EXPECT_EQ(parse("operator while { @attrib { for: int; graph: int; } }").findings(),
              "1:10 reserved-name, 1:28 reserved-name, 1:38 reserved-name");
}

TEST(Parser, SaysNothingMoreWhereTheLexerHasReported) {
    EXPECT_EQ(
        parse_in("@using", "a = b & c;\nd = 1.2.3 + 1;\ne = $x;\nf = 'open;\ng = 1;").findings(),
        "4:7 bad-character, 5:5 bad-number, 6:5 bad-character, 7:5 unclosed-string");
}

// ---- Limits -----------------------------------------------------------------------------------

TEST(Parser, LimitsNesting) {
    for (const char* open :
         {"(", "[", "x[", "f(", "c ? 1 : ", "a ?? ", "x[0] <- ", "2 ** -", "int("}) {
        const Parsed parsed = parse_in("@using", "a = " + repeated(open, 50'000) + "1;\nb = ;");
        ASSERT_EQ(parsed.diag.items().size(), 1u) << open;
        EXPECT_EQ(parsed.diag.items()[0].kind, DiagKind::TooDeep) << open;
    }
    for (const char* open : {"if c then ", "{ y = ", "do ", "a: if "}) {
        const Parsed parsed = parse_in("@compose", "y = " + repeated(open, 50'000));
        ASSERT_EQ(parsed.diag.items().size(), 1u) << open;
        EXPECT_EQ(parsed.diag.items()[0].kind, DiagKind::TooDeep) << open;
    }
}

TEST(Parser, LimitsChains) {
    for (const char* step : {" + 1", "[0]", ".shape", " + ..", " && b", " ** 2"}) {
        const Parsed parsed = parse_in("@using", "a = x" + repeated(step, 100'000) + ";");
        ASSERT_EQ(parsed.diag.error_count(), 1u) << step;
        EXPECT_EQ(parsed.diag.items()[0].kind, DiagKind::TooDeep) << step;
        EXPECT_EQ(parse_in("@using", "a = x" + repeated(step, 500) + ";").diag.error_count(), 0u);
    }
    EXPECT_EQ(parse_in("@using", "a = " + repeated("-", 200'000) + "1;").diag.error_count(), 1u);
}

TEST(Parser, GoesOnWithTheDefinitionBehindOneThatIsTooDeep) {
    const Parsed parsed =
        parse("operator f { @using { a = " + repeated("(", 1000) + "; } }\noperator g { ) }");
    EXPECT_EQ(parsed.findings(), "1:283 too-deep, 2:14 unexpected-token");
    EXPECT_EQ(parsed.module.definitions.size(), 2u);
}

TEST(Parser, TakesLongListsAndFilesInOneGo) {
    const Parsed list = parse_in("@using", "a = [" + repeated("1, ", 100'000) + "1];");
    EXPECT_EQ(list.findings(), "");
    const Parsed graphs = parse(repeated("graph g { @input { x: real[]; } }\n", 5'000));
    EXPECT_EQ(graphs.module.definitions.size(), 5'000u);
}

}  // namespace
}  // namespace lemma::sknd::testing
