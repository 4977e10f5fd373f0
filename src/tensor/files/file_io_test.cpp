// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/file_io.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

namespace lemma::tensor {

namespace {

namespace fs = std::filesystem;

class FileIo : public testing::Test {
protected:
    void SetUp() override {
        path_ =
            (fs::temp_directory_path() / ("lemma_file_io_" + std::to_string(getpid()))).string();
        ASSERT_TRUE(write_file(path_, "0123456789"));
    }
    void TearDown() override { fs::remove(path_); }
    std::string trouble(const std::string& reason) const {
        return "cannot read `" + path_ + "`: " + reason;
    }

    std::string path_;
};

TEST_F(FileIo, ReadsPartsOfFiles) {
    InputFile file = InputFile::open(path_).value();
    EXPECT_EQ(file.size(), 10);
    EXPECT_EQ(file.read(0, 4).value(), "0123");
    EXPECT_EQ(file.read(8, 4).value(), "89");
    EXPECT_EQ(file.read(10, 4).value(), "");
    std::array<std::byte, 3> bytes = {};
    ASSERT_TRUE(file.read_into(7, bytes));
    EXPECT_EQ(bytes[2], std::byte{'9'});
    EXPECT_EQ(file.read_into(8, bytes).error().message, trouble("it ends too early"));
    const InputFile moved = std::move(file);
    EXPECT_EQ(moved.read(0, 100).value(), "0123456789");
}

TEST_F(FileIo, NoticesFilesThatShrink) {
    const InputFile file = InputFile::open(path_).value();
    fs::resize_file(path_, 5);
    EXPECT_EQ(file.read(0, 10).error().message, trouble("it became shorter while it was read"));
}

TEST_F(FileIo, LimitsTheSize) {
    EXPECT_TRUE(read_file(path_, FileKind::Regular, 10));
    EXPECT_EQ(read_file(path_, FileKind::Regular, 9).error().message,
              trouble("it has more than 9 bytes"));
}

TEST_F(FileIo, ReadsPipes) {
    fs::remove(path_);
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    std::thread writer([&] { EXPECT_TRUE(write_file(path_, "through a pipe")); });
    const auto file = InputFile::open(path_, FileKind::Any);
    writer.join();
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->size(), 14);
    EXPECT_EQ(file->read(10, 4).value(), "pipe");
}

TEST_F(FileIo, SaysWhatTheSystemSaid) {
    EXPECT_EQ(read_file("/no/such/file").error().message,
              "cannot read `/no/such/file`: there is no such file or folder");
    EXPECT_EQ(read_file("/tmp").error().message, "cannot read `/tmp`: it is a folder");
    EXPECT_EQ(write_file("/no/such/file", "").error().message,
              "cannot write `/no/such/file`: there is no such file or folder");
    EXPECT_EQ(write_file("/dev/full", "bytes").error().message,
              "cannot write `/dev/full`: No space left on device");
}

}  // namespace

}  // namespace lemma::tensor
