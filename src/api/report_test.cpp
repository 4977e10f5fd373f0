// SPDX-License-Identifier: Apache-2.0
#include "api/report.h"

#include <gtest/gtest.h>

namespace lemma::api {
namespace {

TEST(Report, RemarksAreNotes) {
    model::Finding finding;
    const auto file = finding.sources.add("main.sknd", "graph G {}\n");
    finding.remarks.push_back({Span{file, 0, 0}, "the interpreter runs it"});
    lemma_report* report = nullptr;
    EXPECT_EQ(hand_over(finding, &report), LEMMA_GOOD);
    ASSERT_EQ(lemma_report_count(report), 1U);
    EXPECT_EQ(lemma_report_at(report, 0)->severity, LEMMA_NOTE);
    EXPECT_STREQ(lemma_report_at(report, 0)->message, "the interpreter runs it");
    EXPECT_STREQ(lemma_report_text(report), "main.sknd:1:1: note: the interpreter runs it\n");
    EXPECT_EQ(lemma_report_at(report, 1), nullptr);
    lemma_report_free(report);
}

TEST(Report, NothingToSayIsNoReport) {
    model::Finding finding;
    lemma_report* report = nullptr;
    EXPECT_EQ(hand_over(finding, &report), LEMMA_GOOD);
    EXPECT_EQ(report, nullptr);
    EXPECT_EQ(lemma_report_count(report), 0U);
    EXPECT_STREQ(lemma_report_text(report), "");
    EXPECT_EQ(std::string(lemma_report_json(report)), model::as_json({}));
    lemma_report_free(report);
}

TEST(Report, JsonIsThatOfTheProgram) {
    std::vector<model::Finding> findings(1);
    model::Finding& finding = findings[0];
    finding.model = "main.sknd";
    const auto file = finding.sources.add("main.sknd", "graph G {}\n");
    finding.diag.error({file, 6, 7}, DiagKind::RunFailed, "it fails");
    finding.status = model::kWrong;
    lemma_report* report = nullptr;
    EXPECT_EQ(hand_over(finding, &report), LEMMA_WRONG);
    const std::string json = lemma_report_json(report);
    EXPECT_EQ(json, model::as_json(findings));
    EXPECT_NE(json.find("\"end_column\": 8"), std::string::npos) << json;
    lemma_report_free(report);
}

}  // namespace
}  // namespace lemma::api
