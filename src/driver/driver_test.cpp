// SPDX-License-Identifier: Apache-2.0
#include "driver/driver.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace lemma::driver {

namespace {

Outcome run_with(const std::vector<std::string>& args, Terminal terminal = {}) {
    std::istringstream input("graph G {\n    @compose { y = ; }\n}\n");
    return run(args, terminal, input);
}

bool coloured(const std::vector<std::string>& args, Terminal terminal) {
    return run_with(args, terminal).err.find('\033') != std::string::npos;
}

TEST(Driver, ColoursOnTerminalsOnly) {
    EXPECT_FALSE(coloured({"fmt", "-"}, {}));
    EXPECT_FALSE(coloured({"fmt", "-"}, {.out = true, .err = false}));
    EXPECT_TRUE(coloured({"fmt", "-"}, {.out = false, .err = true}));
    EXPECT_FALSE(coloured({"fmt", "-"}, {.err = true, .no_colour = true}));
    EXPECT_TRUE(coloured({"fmt", "--color=always", "-"}, {.no_colour = true}));
    EXPECT_FALSE(coloured({"fmt", "--color=never", "-"}, {.err = true}));
}

TEST(Driver, HelpIsTheSameByEveryWay) {
    const std::string help = run_with({"check", "--help"}).out;
    EXPECT_NE(help.find("Usage: lemma check"), std::string::npos);
    EXPECT_EQ(run_with({"check", "-h"}).out, help);
    EXPECT_EQ(run_with({"help", "check"}).out, help);
    EXPECT_EQ(run_with({"help"}).out, run_with({"--help"}).out);
}

TEST(Driver, RunsAreIndependent) {
    const Outcome first = run_with({"fmt", "-"});
    EXPECT_EQ(first.status, model::kWrong);
    EXPECT_EQ(run_with({"--version"}).status, model::kGood);
    EXPECT_EQ(run_with({"fmt", "-"}).err, first.err);
}

TEST(Driver, StatusOfSeveralFilesIsTheWorst) {
    EXPECT_EQ(run_with({"fmt", "-", "no-such-file.sknd"}).status, model::kUnusable);
}

}  // namespace

}  // namespace lemma::driver
