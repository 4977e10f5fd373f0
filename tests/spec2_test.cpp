// SPDX-License-Identifier: Apache-2.0
// The programs of chapter 2 of the specification, in both spellings: tests/golden/spec2/X.sknd and
// its twin tests/golden/spec2/khronos/X.sknd are the same program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>

#include "sknd/print/printer.h"
#include "sknd/syntax/parser.h"
#include "support/golden_file.h"

namespace lemma::testing {

namespace {

namespace fs = std::filesystem;

struct Parsed {
    diag::SourceMap sources;
    Diagnostics diag;
    sknd::Module module;
};

Parsed parse(const fs::path& path) {
    Parsed parsed;
    const diag::FileId file = parsed.sources.add(path.filename().string(), read_bytes(path));
    parsed.module = sknd::parse_module(parsed.sources, file, {}, parsed.diag);
    return parsed;
}

// Printed without comments: a twin may have different comments.
std::string printed(Parsed& parsed, sknd::Spelling spelling) {
    parsed.module.comments.clear();
    return sknd::print(parsed.module, parsed.sources, {.spelling = spelling});
}

std::vector<std::string> twins() {
    std::vector<std::string> names;
    const fs::path folder = fs::path(LEMMA_GOLDEN_DIR) / "spec2" / "khronos";
    if (!fs::exists(folder)) return names;  // Spec2Folder.HasATwinForEachProgram reports it
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == ".sknd") names.push_back(entry.path().stem().string());
    }
    std::ranges::sort(names);
    return names;
}

class Spec2 : public ::testing::TestWithParam<std::string> {
protected:
    const fs::path folder_ = fs::path(LEMMA_GOLDEN_DIR) / "spec2";
    const fs::path spec_ = folder_ / (GetParam() + ".sknd");
    const fs::path khronos_ = folder_ / "khronos" / (GetParam() + ".sknd");
};

TEST_P(Spec2, IsOneProgramInBothSpellings) {
    ASSERT_TRUE(fs::exists(spec_)) << "no twin of " << khronos_;
    Parsed spec = parse(spec_);
    Parsed khronos = parse(khronos_);
    EXPECT_EQ(sknd::dump_tree(spec.module), sknd::dump_tree(khronos.module));
    EXPECT_EQ(spec.diag.error_count(), khronos.diag.error_count());
}

TEST_P(Spec2, PrintsAlikeInEachSpelling) {
    ASSERT_TRUE(fs::exists(spec_)) << "no twin of " << khronos_;
    Parsed spec = parse(spec_);
    Parsed khronos = parse(khronos_);
    for (const sknd::Spelling spelling : {sknd::Spelling::Spec, sknd::Spelling::Khronos}) {
        EXPECT_EQ(printed(spec, spelling), printed(khronos, spelling));
    }
}

// Test names consist of letters and digits.
std::string test_name(const ::testing::TestParamInfo<std::string>& twin) {
    std::string name = twin.param;
    std::ranges::replace_if(name, [](unsigned char c) { return !std::isalnum(c); }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Programs, Spec2, ::testing::ValuesIn(twins()), test_name);

// Each valid program of the specification has its twin, so that a new one cannot be forgotten.
TEST(Spec2Folder, HasATwinForEachProgram) {
    const fs::path folder = fs::path(LEMMA_GOLDEN_DIR) / "spec2";
    ASSERT_TRUE(fs::exists(folder));
    size_t programs = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const bool bad = entry.path().filename().string().starts_with("fail_");
        if (entry.path().extension() != ".sknd" || bad) continue;
        EXPECT_TRUE(fs::exists(folder / "khronos" / entry.path().filename())) << entry.path();
        ++programs;
    }
    EXPECT_GT(programs, 0U);
    EXPECT_EQ(programs, twins().size());
}

}  // namespace

}  // namespace lemma::testing
