// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sknd/eval/eval_cases_test.h"

namespace lemma::sknd {
namespace {

TEST(Eval, LimitsPackLengths) {
    const EvalLimits small{.max_pack_length = 3};
    EXPECT_EQ(run("[1, 2, 3]", small).text, "[1, 2, 3]");
    EXPECT_EQ(run("[1, 2, 3, 4]", small).kind, "too-large");
    EXPECT_EQ(run("[a.., a..]", small).kind, "too-large");
    // All pairs, but not in a nested loop.
    EXPECT_EQ(run("[0:50000] != ..").text, "true");
    EXPECT_EQ(run("([0:50000] in [0:50000]) && ..").text, "true");
    check(ErrorRows{
        {"[0:2000000000]",
         "too-large",
         "range of 2000000000 items is over the limit of 1048576 items (--max-pack-length)",
         "0:2000000000"},
        {"[1 ..(2000000000)]",
         "too-large",
         "list of 2000000000 items is over the limit of 1048576 items (--max-pack-length)",
         "[1 ..(2000000000)]"},
        {"[-9223372036854775807:9223372036854775807]",
         "too-large",
         "range of 18446744073709551614 items is over the limit of 1048576 items "
         "(--max-pack-length)",
         "-9223372036854775807:9223372036854775807"},
        {"[0:700000, 0:700000]",
         "too-large",
         "list of 1400000 items is over the limit of 1048576 items (--max-pack-length)",
         "[0:700000, 0:700000]"},
        {"[([0:700000], [0:700000])..]",
         "too-large",
         "zip of 1400000 items is over the limit of 1048576 items (--max-pack-length)",
         "([0:700000], [0:700000]).."},
        {"[n:n + 2000000000]",
         "too-large",
         "range of 2000000000 items is over the limit of 1048576 items (--max-pack-length)",
         "n:n + 2000000000"},
    });
}

TEST(Eval, LimitsStrings) {
    const EvalLimits small{.max_string_bytes = 10};
    EXPECT_EQ(run("s + s", small).text, "hellohello");
    const Outcome outcome = run("s + s + s", small);
    EXPECT_EQ(outcome.kind, "too-large");
    EXPECT_EQ(outcome.message,
              "15 bytes of text are over the limit of 10 bytes (--max-string-bytes)");
    EXPECT_EQ(run("[s ..(3)]", small).kind, "too-large");
    EXPECT_EQ(run("[s, s, s]", small).kind, "too-large");
    EXPECT_EQ(run("['', ''] + s + 'x'", small).kind, "too-large");
    EXPECT_EQ(run("[s][[0, 0, 0]]", small).kind, "too-large");
    EXPECT_EQ(run("s[[0 ..(11)]]", small).kind, "too-large");
    EXPECT_EQ(run("'{s}{s}{s}'", small).kind, "too-large");
}

TEST(Eval, LimitsDepth) {
    std::string nested = "1";
    for (int i = 0; i < 60; ++i) nested = "abs(-" + nested + ")";
    EXPECT_EQ(run(nested).text, "1");
    const Outcome outcome = run(nested, {.max_depth = 50});
    EXPECT_EQ(outcome.kind, "too-deep");
    EXPECT_EQ(outcome.message, "expression is nested deeper than 50 levels");

    std::string chain = "1";
    for (int i = 0; i < 20'000; ++i) chain += " + 1";
    EXPECT_EQ(run(chain).text, "20001");
    std::string logic = "true";
    for (int i = 0; i < 5'000; ++i) logic += " && true";
    EXPECT_EQ(run(logic).text, "true");
}

TEST(Eval, AnInvalidIdHasNoValue) {
    const Module module;
    class Nothing : public Environment {
        const CompileValue* lookup(std::string_view) const override { return nullptr; }
        const CompileValue* member(std::string_view, MemberKind) const override { return nullptr; }
        std::optional<ir::ScalarType> type(std::string_view) const override { return {}; }
    };
    ir::SymbolPool symbols;
    Diagnostics diag;
    EXPECT_FALSE(evaluate(module, ExprId{}, Nothing(), symbols, {}, diag));
    EXPECT_FALSE(diag.has_errors());
}

}  // namespace
}  // namespace lemma::sknd
