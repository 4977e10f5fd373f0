#include "api/report.h"

#include <gtest/gtest.h>

namespace lemma::api {
namespace {

TEST(Report, RemarksAreWarnings) {
    model::Finding finding;
    const auto file = finding.sources.add("main.sknd", "graph G {}\n");
    finding.remarks.push_back({Span{file, 0, 0}, "the interpreter runs it"});
    Outcome outcome;
    report(finding, outcome);
    EXPECT_TRUE(outcome.ok());
    ASSERT_EQ(outcome.problems.size(), 1U);
    EXPECT_EQ(outcome.problems[0].severity, Severity::Warning);
    EXPECT_EQ(outcome.problems[0].message, "the interpreter runs it");
    EXPECT_EQ(outcome.text(), "main.sknd:1:1: note: the interpreter runs it\n");
}

}  // namespace
}  // namespace lemma::api
