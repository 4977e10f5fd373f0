// SPDX-License-Identifier: Apache-2.0
// Every kind of diagnostic has a golden file that shows it and a page that explains it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "diag/diagnostic.h"
#include "support/golden_file.h"

namespace lemma::testing {

namespace {

namespace fs = std::filesystem;

// The text of all CHECK lines of all golden files.
std::string all_checks() {
    std::string text;
    for (const auto& entry : fs::recursive_directory_iterator(LEMMA_GOLDEN_DIR)) {
        if (!entry.is_regular_file() || entry.path().extension() == ".out") continue;
        const auto file = read_golden(entry.path());
        if (!file) continue;
        for (const GoldenCheck& check : file->checks) text += check.text + "\n";
    }
    return text;
}

TEST(Kinds, EachIsShownByAGoldenFile) {
    const std::string checks = all_checks();
    for (const diag::KindInfo& kind : diag::all_kinds()) {
        const bool shown = checks.find("[" + std::string(kind.id) + "]") != std::string::npos;
        EXPECT_TRUE(shown) << "no golden file has a CHECK line with [" << kind.id << "]";
    }
}

TEST(Kinds, EachHasAPage) {
    for (const diag::KindInfo& kind : diag::all_kinds()) {
        const fs::path page = fs::path(LEMMA_ERRORS_DIR) / (std::string(kind.id) + ".md");
        EXPECT_TRUE(fs::exists(page)) << "docs/errors/" << kind.id << ".md is missing";
    }
}

TEST(Kinds, IndexOfThePagesListsEach) {
    const std::string index = read_bytes(fs::path(LEMMA_ERRORS_DIR) / "README.md");
    for (const diag::KindInfo& kind : diag::all_kinds()) {
        const std::string row = fmt::format("\n| [{0}]({0}.md) | ", kind.id);
        EXPECT_NE(index.find(row), std::string::npos) << row;
    }
}

TEST(Kinds, EveryPageIsAboutAKind) {
    std::set<std::string> known = {"README"};
    for (const diag::KindInfo& kind : diag::all_kinds()) known.emplace(kind.id);
    ASSERT_TRUE(fs::exists(LEMMA_ERRORS_DIR));
    for (const auto& entry : fs::directory_iterator(LEMMA_ERRORS_DIR)) {
        EXPECT_TRUE(known.contains(entry.path().stem().string())) << entry.path();
    }
}

}  // namespace

}  // namespace lemma::testing
