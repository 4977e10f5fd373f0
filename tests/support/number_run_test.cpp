// SPDX-License-Identifier: Apache-2.0
#include "support/number_run.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lemma::testing {

namespace {

std::string error_of(std::string_view text) {
    const auto cases = read_numbers(text);
    return cases ? "" : cases.error().message;
}

std::string report_of(std::string_view text) {
    const auto cases = read_numbers(text);
    return cases ? run_numbers(cases->front()) : cases.error().message;
}

// 1 2 3 + 10 20 30; the expected lines come last.
std::string sum_with(const std::string& rest) {
    return "case sum\ncompose z = math.add(x, y);\ninput x: real[3] = 1 2 3\n"
           "input y: real[3] = 10 20 30\n" +
           rest;
}

TEST(NumberFile, ReadsValuesAcrossLines) {
    const auto cases = read_numbers(
        "# first\ncase a b\ncompose y = math.iden(x);\n"
        "input x: real[2, 3] =\n    1 -inf 2.5\n\n    nan 1e-3 -4\noutput y: bool[1] = true\n");
    ASSERT_TRUE(cases) << cases.error().message;
    ASSERT_EQ(cases->size(), 1U);
    const NumberCase& only = cases->front();
    EXPECT_EQ(only.name, "a b");
    EXPECT_EQ(only.line, 2U);
    const interpret::Array& x = only.steps[0].inputs[0].values;
    EXPECT_EQ(x.shape, (tensor::Shape{2, 3}));
    EXPECT_EQ(x.reals[1], -INFINITY);
    EXPECT_TRUE(std::isnan(x.reals[3]));
    EXPECT_EQ(x.reals[5], -4);
    EXPECT_EQ(only.steps[0].outputs[0].values.integers, std::vector<int64_t>{1});
}

TEST(NumberFile, RefusesWhatIsMalformed) {
    EXPECT_EQ(error_of(""), "1: no case");
    EXPECT_EQ(error_of("# only this\n"), "1: no case");
    EXPECT_EQ(error_of("compose y = x;\n"), "1: expected `case NAME` first");
    EXPECT_EQ(error_of("  1 2\n"), "1: nothing above that this line continues");
    EXPECT_EQ(error_of("case\n"), "1: a case needs a name");
    EXPECT_EQ(error_of("case a\ncompose y = x;\n"), "1: this case expects nothing");
    EXPECT_EQ(error_of("case a\noutput y: int[] = 1\n"), "1: this case computes nothing");
    EXPECT_EQ(error_of("case a\nresult y: int[] = 1\n"), "2: `result` begins no line of a case");
    EXPECT_EQ(error_of("case a\noutput y = 1\n"), "2: expected `NAME: TYPE[EXTENTS] = VALUES`");
    EXPECT_EQ(error_of("case a\noutput y: int[-1] = 1\n"), "2: `-1` is no extent");
    EXPECT_EQ(error_of("case a\noutput y: float[1] = 1\n"), "2: no type `float`");
    EXPECT_EQ(error_of("case a\noutput y: int[2] = 1\n"), "2: 1 values, expected 2 for shape [2]");
    EXPECT_EQ(error_of("case a\noutput y: int[1] = 1.5\n"), "2: `1.5` is no int");
    EXPECT_EQ(error_of("case a\noutput y: bool[1] = 1\n"), "2: `1` is no bool");
    EXPECT_EQ(error_of("case a\noutput y: real[1] = 1,\n"), "2: `1,` is no real");
    EXPECT_EQ(error_of("case a\ntolerance 1\n"), "2: expected `tolerance RTOL ATOL`");
    EXPECT_EQ(error_of("case a\nsample y: real[2] = least 0\n"),
              "2: expected `least A greatest B mean C deviation D`");
    const std::string twice = "case a\ncompose y = x;\noutput y: int[] = 1\n";
    EXPECT_EQ(error_of(twice + twice), "4: this case is there twice");
    EXPECT_EQ(error_of(twice + "output y: int[] = 1\n"), "4: `y` is there twice");
}

TEST(NumberRun, AcceptsTheRightNumbers) {
    EXPECT_EQ(report_of(sum_with("output z: real[3] = 11 22.0001 33\n")), "");
}

TEST(NumberRun, FindsWrongNumbersAndTheWorst) {
    EXPECT_EQ(report_of(sum_with("output z: real[3] = 11 23 34.5\n")),
              "`z` differs in 2 of 3 items, most at [2]: got 33, expected 34.5\n");
    EXPECT_EQ(report_of(sum_with("output z: real[3] = 11 nan 30\n")),
              "`z` differs in 2 of 3 items, most at [1]: got 22, expected nan\n");
    EXPECT_EQ(report_of(sum_with("output z: real[3] = 11 inf 33\n")),
              "`z` differs in 1 of 3 items, most at [1]: got 22, expected inf\n");
}

TEST(NumberRun, FindsWrongShapesAndTypes) {
    EXPECT_EQ(report_of("case a\ncompose z = math.iden(x);\ninput x: int[2] = 1 2\n"
                        "output z: int[1] = 1\n"),
              "`z` is int[2], expected int[1]\n");
    EXPECT_NE(report_of(sum_with("output z: int[3] = 11 22 33\n")), "");
    EXPECT_NE(report_of(sum_with("output z: real[3,1] = 11 22 33\n")), "");
}

TEST(NumberRun, FindsOutputsThatNothingComputes) {
    EXPECT_NE(report_of(sum_with("output z: real[3] = 11 22 33\noutput w: real[] = 0\n")), "");
    EXPECT_NE(report_of(sum_with("output z: real[3] = 11 22 33\nstep\n"
                                 "input x: real[3] = 1 2 3\ninput y: real[3] = 1 2 3\n"
                                 "output w: real[] = 0\n")),
              "");
}

TEST(NumberRun, ComparesIntegersExactly) {
    EXPECT_EQ(report_of("case a\ncompose y = math.iden(x);\ninput x: int[1] = 1000000\n"
                        "output y: int[1] = 1000001\n"),
              "`y` differs in 1 of 1 items, most at [0]: got 1000000, expected 1000001\n");
}

TEST(NumberRun, ExpectsErrorsOfTheRun) {
    const std::string pick =
        "case a\ncompose y = layout.gather{axis=0}(x, i);\ndeclare y: real[]\n"
        "input x: real[2] = 1 2\ninput i: int[] = ";
    EXPECT_EQ(report_of(pick + "5\nerror outside of its extent\n"), "");
    EXPECT_NE(report_of(pick + "5\nerror too long\n"), "");
    EXPECT_EQ(report_of(pick + "1\nerror outside of its extent\n"),
              "no error, expected: outside of its extent\n");
}

TEST(NumberRun, MeasuresSamples) {
    const std::string head =
        "case a\ncompose y = rand.uniform{shape=[400]}();\nsample y: real[400] = ";
    EXPECT_EQ(report_of(head + "least 0 greatest 1 mean 0.5 deviation 0.289\n"), "");
    EXPECT_NE(report_of(head + "least 0 greatest 0.5 mean 0.5 deviation 0.289\n"), "");
    EXPECT_NE(report_of(head + "least 0 greatest 1 mean 0.1 deviation 0.1\n"), "");
    EXPECT_NE(report_of(head + "least 0 greatest 1 mean 0.5 deviation 0.9\n"), "");
}

TEST(NumberRun, FindsSamplesThatAreNotDrawnAnew) {
    EXPECT_EQ(report_of("case a\ncompose y = layout.range{first=0.0, last=1.0, stride=0.01}();\n"
                        "sample y: real[100] = least 0 greatest 1 mean 0.5 deviation 0.289\n"),
              "`y` is the same in the next run\n");
}

TEST(NumberRun, KeepsVariablesBetweenSteps) {
    const std::string norm =
        "case a\ncompose y = layer.batch_norm{momentum=0.5, epsilon=0.0}(x);\n"
        "variable y.running_mean: real[1] = 0\nvariable y.running_variance: real[1] = 1\n"
        "variable y.bias: real[1] = 3\nvariable y.scale: real[1] = 2\n"
        "input x: real[2,1] = -1 1\noutput y: real[2,1] = 1 5\n"
        "step\ninput x: real[2,1] = -2 2\nafter y.running_variance: real[1] = 2.5\n"
        "output y: real[2,1] = 1 ";
    EXPECT_EQ(report_of(norm + "5\n"), "");
    EXPECT_EQ(report_of(norm + "5\nafter y.running_mean: real[1] = 1\n"),
              "step 2: `y.running_mean` differs in 1 of 1 items, most at [0]: got 0, expected 1\n");
    EXPECT_EQ(report_of(norm + "5\nafter z.running_mean: real[1] = 1\n"),
              "step 2: no variable `z.running_mean`\n");
    EXPECT_EQ(report_of(norm + "6\n"),
              "step 2: `y` differs in 1 of 2 items, most at [1, 0]: got 5, expected 6\n");
}

}  // namespace

}  // namespace lemma::testing
