// SPDX-License-Identifier: Apache-2.0
// A syntax error hides its possible consequences, and nothing else.
#include "sknd/types/broken.h"

#include <gtest/gtest.h>

#include "sknd/types/checking_test.h"

namespace lemma::sknd::testing {

namespace {

// The findings besides the syntax error.
Kinds besides_syntax(const std::string& text) {
    Kinds kinds = Checked(text).kinds();
    EXPECT_TRUE(kinds.erase("unexpected-token") + kinds.erase("missing-semicolon") +
                    kinds.erase("unclosed-bracket") >
                0)
        << text;
    return kinds;
}

TEST(Broken, NothingIsBrokenInGoodText) {
    const Checked checked("operator f { } operator g { }");
    const BrokenParts parts(checked.module(), checked.diag.items());
    EXPECT_FALSE(parts.names_lost());
    EXPECT_FALSE(parts.broken(0));
    EXPECT_FALSE(parts.broken(1));
}

TEST(Broken, ErrorsOfTheCheckBreakTheirDefinition) {
    const Checked checked("operator f { @using { a = ; } } operator g { }");
    const BrokenParts parts(checked.module(), checked.diag.items());
    EXPECT_FALSE(parts.names_lost());
    EXPECT_TRUE(parts.broken(0));
    EXPECT_FALSE(parts.broken(1));
}

TEST(Broken, WarningsBreakNothing) {
    const Checked checked(
        "operator f { @attrib { a: bool; } @using { b = a && a || a; } @assert { c; } }");
    EXPECT_EQ(checked.kinds(), (Kinds{"mixed-logical", "undeclared-name"}));
}

// These errors are inside definitions and imports, but the text there is intact.
TEST(Broken, ErrorsAboutModulesBreakNothing) {
    const std::string two =
        "operator f { @assert { a; } } operator f { @assert { b; } @compose { y = missing(x); } }";
    EXPECT_EQ(Checked("import nowhere;\n" + two).kinds(),
              (Kinds{"duplicate-definition", "no-module", "no-operator", "undeclared-name"}));
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("main.sknd", "operator f { @assert { a; } }");
    const Package package = load_package(sources, file, "main", no_reader(), {}, diag);
    check_types(package, {}, diag);
    ASSERT_EQ(diag.items().size(), 2u);
    EXPECT_EQ(diag.items()[0].kind, DiagKind::NoGraph);
    EXPECT_EQ(diag.items()[1].kind, DiagKind::UndeclaredName);
}

TEST(Broken, BlocksBeforeItAreChecked) {
    EXPECT_EQ(besides_syntax("operator f { @attrib { a: int = 1.0; } @using { b = ; } }"),
              Kinds{"type-mismatch"});
    EXPECT_EQ(besides_syntax("operator f { @using { b = ; } @attrib { a: int = 1.0; } }"),
              Kinds{"type-mismatch"});
}

TEST(Broken, BlocksThatReadItAreNot) {
    EXPECT_EQ(besides_syntax("operator f { @using { b = ; } @output { y: real[b, c]; } }"),
              Kinds{});
    EXPECT_EQ(besides_syntax("operator f { @input { x: real[; } @output { y: real[n]; } }"),
              Kinds{});
    EXPECT_EQ(besides_syntax("operator f { @attrib { a: ; } @assert { a > 0; } }"), Kinds{});
}

TEST(Broken, BodiesAreIndependentOfAsserts) {
    const std::string head = "operator f { @input { x: real[n]; } @output { y: real[n]; } ";
    EXPECT_EQ(besides_syntax(head + "@assert { n > ; } @lower { y[i,] = z, i < n; } }"),
              Kinds{"undeclared-name"});
    EXPECT_EQ(besides_syntax(head + "@assert { m > 0; } @lower { y[i,] = , i < n; } }"),
              Kinds{"undeclared-name"});
}

TEST(Broken, ALostStatementMayHaveAssignedTheOutput) {
    const std::string head = "operator f { @input { x: real[n]; } @output { y: real[n]; } ";
    EXPECT_EQ(besides_syntax(head + "@lower { y[i,] = ; } }"), Kinds{});
    EXPECT_EQ(besides_syntax(head + "@compose { y = g(; } }"), Kinds{});
}

TEST(Broken, UpdatesReadWhatACompositionAssigns) {
    EXPECT_EQ(
        besides_syntax("operator f { @variable { w: real[3]; } @compose { t = ; } @update { w "
                       "= t; } }"),
        Kinds{});
}

TEST(Broken, OtherDefinitionsAreChecked) {
    EXPECT_EQ(besides_syntax("operator f { @using { a = ; } } operator g { @using { b = c; } }"),
              Kinds{"undeclared-name"});
}

TEST(Broken, CallsOfABrokenOperatorAreNotCompared) {
    EXPECT_EQ(besides_syntax("operator f { @input { x: real[; } @output { y: real[3]; } } operator "
                             "g { @input { x: real[n]; } @output { y: real[n]; } @compose { y = "
                             "f{a = 1}(x, x, x); } }"),
              Kinds{});
}

TEST(Broken, ArgumentsOfABrokenOperatorAreChecked) {
    EXPECT_EQ(
        besides_syntax("operator f { @input { x: real[; } } operator g { @output { y: real[]; "
                       "} @compose { y = f{a = b}(c); } }"),
        Kinds{"undeclared-name"});
}

TEST(Broken, ALostNameMayBeTheOperatorThatIsMissing) {
    const std::string call =
        " operator g { @input { x: real[n]; } @output { y: real[n]; } @compose { y = f(x); } }";
    EXPECT_EQ(besides_syntax("operator { @input { x: real[n]; } }" + call), Kinds{});
    EXPECT_EQ(besides_syntax("operator f @input { x: real[n]; } }" + call), Kinds{});
    EXPECT_EQ(besides_syntax("operator h { @using { a = ; } }" + call), Kinds{"no-operator"});
}

TEST(Broken, TypeErrorsDoNotHideEachOther) {
    const Checked checked(
        "operator f { @attrib { a: int = 1.0; b: bool = 1; } @input { x: real[n]; }\n"
        "@using { c = a + true; d = n + 1.0; }\n"
        "@output { y: real[q]; }\n"
        "@assert { a; }\n"
        "@lower { y[i,] = 1, i < n; } }\n"
        "operator g { @input { x: int[n]; } @output { y: int[n]; } @compose { y = f(x); } }");
    EXPECT_EQ(checked.diag.error_count(), 9u) << checked.brief();
}

}  // namespace

}  // namespace lemma::sknd::testing
