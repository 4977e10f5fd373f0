// SPDX-License-Identifier: Apache-2.0
#include "model/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace lemma::model {

namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
protected:
    void SetUp() override {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        std::ofstream(file_) << "old";
    }
    void TearDown() override { fs::remove_all(folder_); }

    size_t count() const {
        return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
    }

    const fs::path folder_ = fs::path(::testing::TempDir()) / "lemma_files_test";
    const fs::path file_ = folder_ / "a.sknd";
};

TEST(SafeText, KeepsLinesAndEscapesWhatMovesTheCursor) {
    EXPECT_EQ(safe_text("a\x1b[2Jb\nc\xc2\x9b d\x7f"), "a<1b>[2Jb\nc<U+009B> d<7f>");
    EXPECT_EQ(error_line({"cannot read `\x07`: no", ErrorKind::Unreadable}),
              "lemma: cannot read `<07>`: no [unreadable-file]\n");
    EXPECT_EQ(error_line({"no `\x07`"}), "lemma: no `<07>`\n");
}

TEST_F(Files, ReplacingKeepsTheModeAndLeavesNothingBehind) {
    fs::permissions(file_, fs::perms::owner_all | fs::perms::group_read);
    ASSERT_TRUE(replace_file(file_.string(), "new"));
    EXPECT_EQ(*read_text(file_.string(), FileKind::Regular), "new");
    EXPECT_EQ(fs::status(file_).permissions(), fs::perms::owner_all | fs::perms::group_read);
    EXPECT_EQ(count(), 1u);
}

TEST_F(Files, ReplacingBehindASymbolicLinkKeepsTheLink) {
    fs::create_symlink(file_, folder_ / "link.sknd");
    ASSERT_TRUE(replace_file((folder_ / "link.sknd").string(), "new"));
    EXPECT_TRUE(fs::is_symlink(folder_ / "link.sknd"));
    EXPECT_EQ(*read_text(file_.string(), FileKind::Regular), "new");
}

TEST_F(Files, ReplacingAMissingFileIsAnError) {
    const auto written = replace_file((folder_ / "none.sknd").string(), "new");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message.find("cannot write `"), 0u);
    EXPECT_EQ(count(), 1u);
}

TEST_F(Files, ReadingErrorsBeginAlike) {
    for (const fs::path& path : {folder_, folder_ / "none.sknd"}) {
        const auto text = read_text(path.string(), FileKind::Regular);
        ASSERT_FALSE(text);
        EXPECT_EQ(text.error().message.find("cannot read"), 0u) << text.error().message;
    }
}

TEST_F(Files, ReadsAllOfAStreamZerosIncluded) {
    const std::string bytes = std::string(200'000, 'x') + '\0' + "end";
    std::istringstream stream(bytes);
    EXPECT_EQ(*read_all(stream), bytes);
}

}  // namespace

}  // namespace lemma::model
