// SPDX-License-Identifier: Apache-2.0
#include "support/golden_run.h"

#include <gtest/gtest.h>

namespace lemma::testing {

namespace {

GoldenFile file_with(std::vector<std::string> lines) {
    const std::filesystem::path path =
        std::filesystem::path(::testing::TempDir()) / "fail_example.sknd";
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    write_bytes(path, text);
    return *read_golden(path);
}

TEST(Golden, CountsLinesFromTheCheckLine) {
    const GoldenFile file = file_with(
        {"# RUN: lemma check %s", "# CHECK: a:[[+1]]:2 b:[[-1]] c:[[+0]] d:[[@]]", "graph"});
    EXPECT_EQ(file.expected(), std::vector<std::string>{"a:3:2 b:1 c:2 d:2"});
    EXPECT_EQ(file.runs[0].status, 1);
}

TEST(Golden, ExitLineGoesWithTheRunLineAbove) {
    const GoldenFile file =
        file_with({"# RUN: lemma check %s", "# EXIT: 2", "# RUN: lemma fmt %s", "graph"});
    EXPECT_EQ(file.runs[0].status, 2);
    EXPECT_EQ(file.runs[1].status, 1);
}

TEST(Golden, RunLineBelowTheTextIsNoTest) {
    const auto path = std::filesystem::path(::testing::TempDir()) / "late.sknd";
    write_bytes(path, "graph G {}\n# RUN: lemma check %s\n");
    EXPECT_FALSE(read_golden(path));
}

TEST(Golden, UpdatePutsEachCheckAboveItsLine) {
    const GoldenFile file = file_with(
        {"# RUN: lemma check %s", "# CHECK: stale", "import nn;", "    graph G {", "    }"});
    GoldenOutput output;
    output.combined =
        "fail_example.sknd:4:1: error: first\n"
        "fail_example.sknd:3:1: note: see here\n"
        "fail_example.sknd:4:5: error: second\n";
    const std::vector<std::string> expected = {
        "# RUN: lemma check %s",
        "import nn;",
        "    # CHECK: fail_example.sknd:[[+3]]:1: error: first",
        "    # CHECK: fail_example.sknd:[[-2]]:1: note: see here",
        "    # CHECK: fail_example.sknd:[[+1]]:5: error: second",
        "    graph G {",
        "    }"};
    EXPECT_EQ(updated_golden(file, output).lines, expected);
}

TEST(Golden, UpdatePutsLinesWithoutPlaceBelowTheHeader) {
    const GoldenFile file = file_with({"# RUN: lemma check %s", "", "graph G {}"});
    GoldenOutput output;
    output.combined = "lemma: no\n";
    const std::vector<std::string> expected = {
        "# RUN: lemma check %s", "# CHECK: lemma: no", "", "graph G {}"};
    EXPECT_EQ(updated_golden(file, output).lines, expected);
}

TEST(Golden, UpdateKeepsExcerptsBelowTheText) {
    const GoldenFile file = file_with({"# RUN: lemma check %s", "graph G {}"});
    GoldenOutput output;
    output.combined = "fail_example.sknd:2:1: error: no\n    2 | graph G {}\n      | ^\n";
    const std::vector<std::string> expected = {"# RUN: lemma check %s",
                                               "graph G {}",
                                               "# CHECK: fail_example.sknd:2:1: error: no",
                                               "# CHECK:     2 | graph G {}",
                                               "# CHECK:       | ^"};
    EXPECT_EQ(updated_golden(file, output).lines, expected);
}

TEST(Golden, DiffShowsWhatIsMissingAndWhatIsTooMuch) {
    EXPECT_EQ(diff_lines({"a", "b", "c"}, {"a", "c", "d"}), "    a\n  - b\n    c\n  + d\n");
}

}  // namespace

}  // namespace lemma::testing
