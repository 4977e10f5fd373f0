// SPDX-License-Identifier: Apache-2.0
#include "ops/select.h"

#include <gtest/gtest.h>

namespace lemma::ops {

namespace {

TEST(Pattern, StarStandsForAnyText) {
    EXPECT_TRUE(matches_pattern("nn.max_pool", "nn.*_pool"));
    EXPECT_TRUE(matches_pattern("nn.max_pool", "*"));
    EXPECT_TRUE(matches_pattern("aXbXc", "a*X*c"));
    EXPECT_TRUE(matches_pattern("", "**"));
    EXPECT_FALSE(matches_pattern("nn.max_pool_2", "nn.*_pool"));
    EXPECT_FALSE(matches_pattern("math.abs", "nn.*"));
}

TEST(Pattern, QuestionMarkStandsForOneCharacter) {
    EXPECT_TRUE(matches_pattern("l1_norm", "l?_norm"));
    EXPECT_FALSE(matches_pattern("l_norm", "l?_norm"));
    EXPECT_FALSE(matches_pattern("", "?"));
}

TEST(Pattern, ManyStarsTakeNoLongTime) {
    const std::string text(5'000, 'a');
    EXPECT_FALSE(matches_pattern(text, "*a*a*a*a*a*a*a*a*a*a*b"));
}

TEST(Library, EveryOperatorHasACommentAndAnOutput) {
    for (const ModuleText& module : standard_library()) {
        EXPECT_FALSE(module.summary.empty()) << module.name;
        for (const OperatorText& op : module.operators) {
            EXPECT_FALSE(op.summary.empty()) << op.qualified();
            EXPECT_FALSE(op.outputs.empty()) << op.qualified();
            EXPECT_FALSE(op.definition.empty()) << op.qualified();
        }
    }
}

TEST(Library, FindsAnOperatorByItsNameAlone) {
    const auto library = standard_library();
    const auto relu = select_operators(library, "relu");
    ASSERT_TRUE(relu);
    EXPECT_TRUE(relu->one);
    EXPECT_EQ(relu->modules.front().operators.front().qualified(), "nn.relu");
    EXPECT_FALSE(select_operators(library, "conv")) << "two modules have one";
    EXPECT_FALSE(select_operators(library, "")) << "no operator has an empty name";
}

}  // namespace

}  // namespace lemma::ops
