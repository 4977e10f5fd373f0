// SPDX-License-Identifier: Apache-2.0
#include "edit/compare_runs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace lemma::edit {
namespace {

std::string model_file(const std::string& name, const std::string& factor) {
    const std::string path = (std::filesystem::path(testing::TempDir()) / name).string();
    std::ofstream(path) << "import math;\n\ngraph G {\n    @input { x: real[4]; }\n"
                           "    @output { y: real[4]; }\n    @compose { y = math.mul(x, "
                        << factor << "); }\n}\n";
    return path;
}

TEST(CompareRuns, AcceptsSmallDifferences) {
    const auto compared =
        compare_runs(model_file("two.sknd", "2.0"), {}, model_file("near.sknd", "2.00001"), 2);
    ASSERT_TRUE(compared.has_value()) << compared.error().message;
    EXPECT_EQ(compared->trouble, "");
    EXPECT_GT(compared->difference, 0.0);
}

TEST(CompareRuns, SaysWhereOutputsDiffer) {
    const auto compared =
        compare_runs(model_file("two.sknd", "2.0"), {}, model_file("more.sknd", "2.1"), 2);
    ASSERT_TRUE(compared.has_value()) << compared.error().message;
    EXPECT_NE(compared->trouble.find("`y` differs"), std::string::npos) << compared->trouble;
}

TEST(CompareRuns, ReportsAModelThatDoesNotRun) {
    const auto compared =
        compare_runs(model_file("two.sknd", "2.0"), {}, testing::TempDir() + "missing.sknd", 1);
    ASSERT_FALSE(compared.has_value());
    EXPECT_NE(compared.error().message.find("the result"), std::string::npos);
}

}  // namespace
}  // namespace lemma::edit
