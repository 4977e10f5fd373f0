// SPDX-License-Identifier: Apache-2.0
#include "driver/testing/case_file.h"

#include <gtest/gtest.h>

namespace lemma::driver {
namespace {

std::string error_of(const std::string& text) {
    const auto cases = read_test_cases(text);
    return cases ? "" : cases.error().message;
}

TEST(CaseFile, ReadsACase) {
    const auto cases = read_test_cases(
        "# comment\nimport nn;\ntolerance 1e-3 0\n\ncase first\ncall y = f(x);\n"
        "input x: int = [[1, 2],\n    [3, 4]]\noutput y = [1, 2]\n");
    ASSERT_TRUE(cases) << cases.error().message;
    ASSERT_EQ(cases->size(), 1u);
    const TestCase& test = cases->front();
    EXPECT_EQ(test.name, "first");
    EXPECT_EQ(test.line, 5u);
    EXPECT_EQ(test.imports, std::vector<std::string>{"nn"});
    EXPECT_EQ(test.tolerance.relative, 1e-3);
    const TestStep& step = test.steps.front();
    EXPECT_EQ(step.inputs[0].type, "int");
    EXPECT_EQ(step.inputs[0].values.shape, (tensor::Shape{2, 2}));
    EXPECT_EQ(step.outputs[0].type, "real");
    EXPECT_EQ(step.outputs[0].values.reals, (std::vector<double>{1, 2}));
}

TEST(CaseFile, NamesTheLineOfAnError) {
    EXPECT_EQ(error_of(""), "1: no `case` in it");
    EXPECT_EQ(error_of("input x = [1]"), "1: `input` stands before the first `case`");
    EXPECT_EQ(error_of("case a\n\ninputs x = [1]"),
              "3: `inputs` begins no line of a test; did you mean `input`?");
    EXPECT_EQ(error_of("case a\ntolerance 1"),
              "2: expected two tolerances, as in `tolerance 1e-3 1e-6`");
    EXPECT_EQ(error_of("case a\ntolerance nan 1"),
              "2: expected two tolerances, as in `tolerance 1e-3 1e-6`");
    EXPECT_EQ(error_of("case a\ninput x: float = [1]"),
              "2: `float` is no type; the types are real, int, bool and str");
    EXPECT_EQ(error_of("case a\ninput x: int = [1.5]"), "2: the values are real, not int");
    EXPECT_EQ(error_of("case a\ninput x = [1]\ninput x = [1]"), "3: `x` has a value already");
    EXPECT_EQ(error_of("case a\nerror rank-mismach"),
              "2: `rank-mismach` is no kind of error; did you mean `rank-mismatch`?");
}

TEST(CaseFile, RefusesHostileText) {
    EXPECT_NE(error_of(std::string(1 << 16, '[')), "");
    EXPECT_NE(error_of("case a\ninput x = " + std::string(100'000, '[')), "");
    EXPECT_NE(error_of("case a\ninput = [1]"), "");
    EXPECT_NE(error_of("case a\ninput x ="), "");
    EXPECT_NE(error_of(std::string("case\0a\ninput\xff", 13)), "");
    EXPECT_NE(error_of(" \n \n\t"), "");
}

TEST(CaseFile, RefusesMoreThanACaseCanHave) {
    std::string imports, inputs = "case a\noutput y = 1\n";
    for (int i = 0; i <= 100; ++i) imports += "import nn\n";
    for (int i = 0; i <= 1000; ++i) inputs += "input x" + std::to_string(i) + " = 1\n";
    EXPECT_EQ(error_of(imports), "101: more than 100 imports");
    EXPECT_EQ(error_of(inputs), "1003: more than 1000 tensors of a kind");
    EXPECT_EQ(error_of("model " + std::string(5000, 'a')), "1: the path is too long");
}

}  // namespace
}  // namespace lemma::driver
