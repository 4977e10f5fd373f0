// SPDX-License-Identifier: Apache-2.0
#include "diag/diagnostic.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

namespace lemma::diag {
namespace {

Span span_at(uint32_t file, uint32_t begin) { return {make_id<FileId>(file), begin, begin + 1}; }

TEST(Kinds, HaveUniqueIdsInKebabCase) {
    std::set<std::string_view> ids;
    for (const KindInfo& kind : all_kinds()) {
        EXPECT_TRUE(ids.insert(kind.id).second) << kind.id;
        EXPECT_EQ(kind.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos);
        EXPECT_FALSE(kind.summary.empty()) << kind.id;
        EXPECT_EQ(&info(kind.kind), &kind);
    }
}

TEST(Diagnostics, CountsErrorsAndWarnings) {
    Diagnostics diag;
    EXPECT_FALSE(diag.has_errors());
    diag.warning(span_at(0, 1), DiagKind::MixedLogical, "w");
    EXPECT_FALSE(diag.has_errors());
    diag.error(span_at(0, 1), DiagKind::BadNumber, "e");
    EXPECT_TRUE(diag.has_errors());
    EXPECT_EQ(diag.error_count(), 1u);
    EXPECT_EQ(diag.warning_count(), 1u);
}

TEST(Diagnostics, DropsRepeatsWithTheirNotes) {
    Diagnostics diag;
    for (int i = 0; i < 3; ++i) {
        diag.error(span_at(0, 1), DiagKind::BadNumber, "m").note("n").fix(span_at(0, 1), "0");
    }
    diag.error(span_at(0, 2), DiagKind::BadNumber, "m");
    diag.error(span_at(1, 1), DiagKind::BadNumber, "m");
    diag.error(span_at(0, 1), DiagKind::IntRange, "m");
    diag.error(span_at(0, 1), DiagKind::BadNumber, "other");
    EXPECT_EQ(diag.error_count(), 5u);
    EXPECT_EQ(diag.items()[0].notes.size(), 1u);
    EXPECT_EQ(diag.items()[0].fixes.size(), 1u);
}

TEST(Diagnostics, CountsWhatIsBeyondTheLimit) {
    Diagnostics diag(2);
    for (uint32_t i = 0; i < 5; ++i) diag.error(span_at(0, i), DiagKind::BadNumber, "m").note("n");
    for (uint32_t i = 0; i < 3; ++i) diag.warning(span_at(0, i), DiagKind::MixedLogical, "m");
    diag.error(span_at(0, 0), DiagKind::BadNumber, "m");  // a repeat of one that was kept
    EXPECT_TRUE(diag.full());
    EXPECT_EQ(diag.items().size(), 4u);
    EXPECT_EQ(diag.error_count(), 2u);
    EXPECT_EQ(diag.dropped_errors(), 3u);
    EXPECT_EQ(diag.dropped_warnings(), 1u);
}

TEST(Diagnostics, KeepsEverythingWithoutLimit) {
    Diagnostics diag(0);
    constexpr uint32_t kMany = 100'000;
    for (uint32_t i = 0; i < kMany; ++i) diag.error(span_at(0, i), DiagKind::BadNumber, "m");
    EXPECT_EQ(diag.error_count(), kMany);
    EXPECT_FALSE(diag.full());
}

TEST(Diagnostics, CutsLongTextsBetweenCharacters) {
    Diagnostics diag;
    std::string text(Diagnostics::kMaxTextBytes - 1, 'x');
    diag.error({}, DiagKind::BadNumber, text + "é and more").note(text + "é and more");
    EXPECT_EQ(diag.items()[0].message, text + "…");
    EXPECT_EQ(diag.items()[0].notes[0].message, text + "…");
}

TEST(Diagnostics, SortsByPlaceAndKeepsTheOrderOfEquals) {
    Diagnostics diag;
    diag.error({}, DiagKind::BadNumber, "nowhere");
    diag.error(span_at(1, 0), DiagKind::BadNumber, "other file");
    diag.error(span_at(0, 9), DiagKind::BadNumber, "late");
    diag.error(span_at(0, 3), DiagKind::BadNumber, "first here");
    diag.error(span_at(0, 3), DiagKind::BadNumber, "second here");
    diag.sort_by_place();
    std::vector<std::string> messages;
    for (const Diagnostic& item : diag.items()) messages.push_back(item.message);
    EXPECT_EQ(
        messages,
        (std::vector<std::string>{"first here", "second here", "late", "other file", "nowhere"}));
    diag.error(span_at(0, 3), DiagKind::BadNumber, "second here");
    EXPECT_EQ(diag.error_count(), 5u) << "repeats are still known";
}

TEST(Report, SuggestsWithNoteAndFix) {
    Diagnostics diag;
    diag.error(span_at(0, 1), DiagKind::NoOperator, "m").did_you_mean(span_at(0, 1), "relu");
    const Diagnostic& item = diag.items()[0];
    EXPECT_EQ(item.notes[0].message, "did you mean `relu`?");
    EXPECT_FALSE(item.notes[0].span.valid());
    EXPECT_EQ(item.fixes[0].replacement, "relu");
    EXPECT_EQ(item.fixes[0].span, span_at(0, 1));
}

TEST(Report, SuggestsNothingForAnEmptyName) {
    Diagnostics diag;
    diag.error(span_at(0, 1), DiagKind::NoOperator, "m").did_you_mean(span_at(0, 1), "");
    EXPECT_TRUE(diag.items()[0].notes.empty());
    EXPECT_TRUE(diag.items()[0].fixes.empty());
}

TEST(NearestName, FindsASlip) {
    EXPECT_EQ(nearest_name("rely", {"relu", "elu", "selu"}), "relu");
    EXPECT_EQ(nearest_name("cnov", {"conv", "concat"}), "conv") << "a swap is one edit";
    EXPECT_EQ(nearest_name("max_pol", {"max_pool", "avg_pool"}), "max_pool");
    EXPECT_EQ(nearest_name("nn.softmaxx", {"nn.softplus", "nn.softmax"}), "nn.softmax");
    EXPECT_EQ(nearest_name("adn", {"and"}), "and");
}

TEST(NearestName, TakesCaseForASmallDifference) {
    EXPECT_EQ(nearest_name("BATCH_NORM", {"bath_norm", "batch_norm"}), "batch_norm");
    EXPECT_EQ(nearest_name("X", {"y", "x"}), "x");
    EXPECT_EQ(nearest_name("RELU", {"relu"}), "relu");
}

TEST(NearestName, FindsNothingThatIsFar) {
    EXPECT_EQ(nearest_name("conv", {"softmax", "relu"}), "");
    EXPECT_EQ(nearest_name("ab", {"ac"}), "") << "one letter of two is no slip";
    EXPECT_EQ(nearest_name("x", {"y"}), "");
    EXPECT_EQ(nearest_name("", {"a", ""}), "");
    EXPECT_EQ(nearest_name("abcdef", {}), "");
}

TEST(NearestName, FindsWhatBeginsTheSame) {
    EXPECT_EQ(nearest_name("convolution", {"con", "conv", "copy"}), "conv");
    EXPECT_EQ(nearest_name("out", {"input", "output"}), "output");
    EXPECT_EQ(nearest_name("maximum", {"ma", "min"}), "") << "two letters say nothing";
}

TEST(NearestName, PassesOverTheNameItself) {
    EXPECT_EQ(nearest_name("conv", {"conv", "con"}), "con");
    EXPECT_EQ(nearest_name("conv", {"conv"}), "");
}

TEST(NearestName, TakesTheFirstOfEquallyNearOnes) {
    EXPECT_EQ(nearest_name("sell", {"selu", "silu", "seli"}), "selu");
}

TEST(NearestName, ComparesLongNamesQuickly) {
    const std::string name(1'000'000, 'a');
    const std::string other = name + "b";
    EXPECT_EQ(nearest_name(name, {other}), "");
    const std::string near(100, 'a');
    EXPECT_EQ(nearest_name(near, {other, "b", std::string_view(near).substr(1)}).size(), 99u);
}

}  // namespace
}  // namespace lemma::diag
