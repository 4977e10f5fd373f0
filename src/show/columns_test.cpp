// SPDX-License-Identifier: Apache-2.0
#include "show/columns.h"

#include <gtest/gtest.h>

#include "diag/utf8.h"

namespace lemma::show {
namespace {

TEST(Columns, AreAsWideAsTheirContent) {
    Columns columns({Align::Left, Align::Right});
    columns.add({"name", "9"});
    columns.add_rule();
    columns.add({"n", "100"});
    EXPECT_EQ(columns.text(), "name    9\n─────────\nn     100\n");
}

TEST(Columns, CutTheWidestColumnToFitTheLimit) {
    Columns columns({Align::Left, {Align::Left, Cut::Middle, 5}, Align::Right});
    columns.add({"Conv", "/layer1/conv/Conv", "1,000"});
    for (size_t limit = 1; limit < 40; ++limit) {
        const std::string text = columns.text(limit);
        EXPECT_LE(diag::printable_columns(text.substr(0, text.size() - 1)), limit) << text;
    }
    EXPECT_EQ(columns.text(21), "Conv  /lay…onv  1,000\n");
}

TEST(Columns, EndALineThatCannotGetNarrower) {
    Columns columns({Align::Left, Align::Right});
    columns.add({"operation", "1,000"});
    EXPECT_EQ(columns.text(12), "operation  …\n");
}

TEST(Columns, CountWideAndHostileCharacters) {
    EXPECT_EQ(cut_text("\x1b[2J", 10), "<1b>[2J");
    EXPECT_EQ(cut_text("日本語", 4), "日…");
    EXPECT_EQ(cut_text("日本語", 5, Cut::Middle), "日…語");
    EXPECT_EQ(cut_text("abc", 0), "");
    EXPECT_EQ(cut_text("abc", 1), "…");
}

}  // namespace
}  // namespace lemma::show
