// SPDX-License-Identifier: Apache-2.0
#include "base/open_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace lemma {
namespace {

namespace fs = std::filesystem;

class OpenFile : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "lemma-open-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string trouble(const std::string& name, const std::string& reason) const {
        return "cannot read `" + path(name) + "`: " + reason;
    }
    std::string error(const std::string& name, FileKind kind, int64_t max_bytes = 1000) const {
        const auto text = read_whole(path(name), kind, max_bytes);
        return text ? "no error" : text.error().message;
    }

    fs::path folder_;
};

TEST_F(OpenFile, SaysWhatIsInTheWay) {
    EXPECT_EQ(error("none", FileKind::Any), trouble("none", "there is no such file or folder"));
    std::ofstream(path("file")) << "12345";
    EXPECT_EQ(error("file/x", FileKind::Any), trouble("file/x", "there is no such file or folder"));
    fs::create_directory(path("folder"));
    EXPECT_EQ(error("folder", FileKind::Any), trouble("folder", "it is a folder"));
    EXPECT_EQ(error("file", FileKind::Any, 4), trouble("file", "it has more than 4 bytes"));
    EXPECT_EQ(read_whole(path("file"), FileKind::Regular, 5).value(), "12345");
    fs::create_symlink("link", path("link"));
    EXPECT_EQ(error("link", FileKind::Any), trouble("link", "its links go round in circles"));
    const std::string cut("file\0.npy", 9);
    EXPECT_EQ(error(cut, FileKind::Any), trouble(cut, "there is no such file or folder"));
}

TEST_F(OpenFile, DoesNotWaitForAPipeThatIsPartOfAModel) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_EQ(error("pipe", FileKind::Regular), trouble("pipe", "it is not a regular file"));
    fs::create_symlink("/dev/zero", path("zero"));
    EXPECT_EQ(error("zero", FileKind::Regular), trouble("zero", "it is not a regular file"));
}

TEST_F(OpenFile, ReadsAPipeThatTheUserNamed) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_EQ(error("pipe", FileKind::Any),
              trouble("pipe", "it is empty, or a pipe that nobody writes to"));
    const std::string text(300'000, 'x');  // more than the buffer of a pipe
    std::thread writer([&] { std::ofstream(path("pipe")) << text; });
    const auto read = read_whole(path("pipe"), FileKind::Any, 1'000'000);
    writer.join();
    EXPECT_EQ(read.value(), text);
}

TEST_F(OpenFile, EndsWithADeviceThatDoesNot) {
    fs::create_symlink("/dev/zero", path("zero"));
    EXPECT_EQ(
        error("zero", FileKind::Any),
        trouble("zero", "it is a pipe or device with more than 1000 bytes; save them to a file"));
    fs::create_symlink("/dev/null", path("null"));
    EXPECT_EQ(error("null", FileKind::Any),
              trouble("null", "it is empty, or a pipe that nobody writes to"));
}

}  // namespace
}  // namespace lemma
