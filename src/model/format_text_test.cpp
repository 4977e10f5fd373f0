// SPDX-License-Identifier: Apache-2.0
#include "model/format_text.h"

#include <gtest/gtest.h>

namespace lemma::model {
namespace {

TEST(FormatText, FormatsBothLanguages) {
    Finding finding;
    EXPECT_EQ(format_text("a", "graph  G{@input{x:real[4];}}", {}, finding),
              "graph G {\n    @input {\n        x: real[4];\n    }\n}\n");
    EXPECT_EQ(finding.status, kGood);
    const auto nnef = format_text("b",
                                  "version 1.0; graph g(x)->(y){x=external(shape=[1]);y=relu(x);}",
                                  {.language = TextLanguage::Nnef1},
                                  finding);
    ASSERT_TRUE(nnef);
    EXPECT_TRUE(nnef->starts_with("version 1.0;\n")) << *nnef;
    EXPECT_NE(nnef->find("    y = relu(x);\n"), std::string::npos) << *nnef;
}

TEST(FormatText, RemarksOnAnAddedSemicolon) {
    Finding finding;
    const auto text = format_text("a.sknd", "import math\ngraph G { }\n", {}, finding);
    ASSERT_TRUE(text);
    EXPECT_EQ(*text, "import math;\n\ngraph G {\n}\n");
    EXPECT_EQ(remarks_text(finding),
              "a.sknd:1:12: note: added the missing `;` after this import\n");
}

TEST(FormatText, ReportsSyntaxErrors) {
    Finding finding;
    EXPECT_FALSE(format_text("a.sknd", "graph {", {}, finding));
    EXPECT_EQ(finding.status, kWrong);
    EXPECT_TRUE(finding.diag.has_errors());
}

TEST(FormatText, RefusesTheDialectOfTractForSkriptND) {
    Finding finding;
    EXPECT_FALSE(format_text("a.sknd", "", {.dialect = TextDialect::Tract}, finding));
    EXPECT_EQ(finding.status, kUnusable);
}

TEST(FormatText, GuessesTheLanguageFromTheFirstWord) {
    EXPECT_EQ(language_of("# a comment\nversion 1.0;"), TextLanguage::Nnef1);
    EXPECT_EQ(language_of("\n fragment f(x: tensor<scalar>)"), TextLanguage::Nnef1);
    EXPECT_EQ(language_of("import nn;"), TextLanguage::SkriptND);
    EXPECT_EQ(language_of(""), TextLanguage::SkriptND);
}

}  // namespace
}  // namespace lemma::model
