// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace lemma::tensor {
namespace {

class MappedFile : public testing::Test {
protected:
    MappedFile() {
        std::string pattern = (std::filesystem::temp_directory_path() / "mappedXXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~MappedFile() override { std::filesystem::remove_all(folder_); }
    std::string path(const std::string& name) const { return folder_ + "/" + name; }

    std::string folder_;
};

TEST_F(MappedFile, GivesTheBytesAndPartsOfThem) {
    ASSERT_TRUE(write_file(path("a"), "0123456789"));
    SharedBytes part;
    {
        const auto bytes = map_file(path("a"));
        ASSERT_TRUE(bytes) << bytes.error().message;
        EXPECT_EQ(**bytes, "0123456789");
        part = share_part(*bytes, 3, 4);
    }
    EXPECT_EQ(*part, "3456");  // the part keeps the whole alive
}

TEST_F(MappedFile, TakesEmptyFiles) {
    ASSERT_TRUE(write_file(path("a"), ""));
    const auto bytes = map_file(path("a"));
    ASSERT_TRUE(bytes);
    EXPECT_EQ(**bytes, "");
}

TEST_F(MappedFile, SaysWhyAFileCannotBeMapped) {
    EXPECT_EQ(map_file(path("none")).error().message,
              "cannot read `" + path("none") + "`: there is no such file or folder");
    EXPECT_EQ(map_file(folder_).error().message, "cannot read `" + folder_ + "`: it is a folder");
    ASSERT_TRUE(write_file(path("a"), "0123"));
    EXPECT_EQ(map_file(path("a"), FileKind::Regular, 3).error().message,
              "cannot read `" + path("a") + "`: it has more than 3 bytes");
}

TEST_F(MappedFile, RefusesAPipeWhereOnlyFilesAreGoodWithoutWaitingForIt) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_EQ(map_file(path("pipe"), FileKind::Regular).error().message,
              "cannot read `" + path("pipe") + "`: it is not a regular file");
}

TEST_F(MappedFile, TakesFilesLargerThanMemoryWithoutSpendingAny) {
    const int64_t size = (int64_t{1} << 35) + 4;  // sparse: one block on the disk
    const int file = ::open(path("large").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    const bool sparse = ::pwrite(file, "last", 4, size - 4) == 4;
    ::close(file);
    ASSERT_TRUE(sparse) << "the folder of temporary files must have sparse files of 32 GiB";
    const auto bytes = map_file(path("large"));
    ASSERT_TRUE(bytes) << bytes.error().message;
    EXPECT_EQ(static_cast<int64_t>((*bytes)->size()), size);
    EXPECT_EQ((*bytes)->substr(static_cast<size_t>(size) - 6), std::string("\0\0last", 6));
}

TEST_F(MappedFile, KeepsItsBytesWhenTheFileIsWrittenAnew) {
    ASSERT_TRUE(write_file(path("a"), std::string(100'000, 'x')));
    ASSERT_EQ(::chmod(path("a").c_str(), 0600), 0);
    const auto bytes = map_file(path("a"));
    ASSERT_TRUE(bytes);
    ASSERT_TRUE(write_file(path("a"), "y"));
    EXPECT_EQ((*bytes)->back(), 'x');
    EXPECT_EQ(*read_file(path("a")), "y");
    struct stat status = {};
    ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
}

std::string numbers(size_t bytes) {
    std::string text(bytes, '\0');
    for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 7 + i / 4096);
    return text;
}

TEST_F(MappedFile, HoldsBytesOfAFileThatBecomesShorter) {
    const std::string text = numbers(100'001);
    ASSERT_TRUE(write_file(path("a"), text));
    const auto bytes = map_file(path("a"));
    ASSERT_TRUE(bytes);
    const std::string_view part = (*bytes)->substr(50'000, 50'001);
    ASSERT_TRUE(hold_bytes(part));
    std::filesystem::resize_file(path("a"), 0);
    EXPECT_EQ(part, std::string_view(text).substr(50'000));
    EXPECT_TRUE(hold_bytes(part));  // already held
    const auto rest = hold_bytes(**bytes);
    ASSERT_FALSE(rest);
    EXPECT_EQ(rest.error().message,
              "cannot read `" + path("a") + "`: it became shorter while it was used");
    EXPECT_TRUE(hold_bytes("bytes of no file"));
}

TEST_F(MappedFile, HoldsAnewWhatWasDropped) {
    const std::string text = numbers(100'001);
    ASSERT_TRUE(write_file(path("a"), text));
    const auto bytes = map_file(path("a"));
    ASSERT_TRUE(hold_bytes(**bytes));
    drop_pages((*bytes)->substr(10'000, 50'000));
    EXPECT_EQ(**bytes, text);
    ASSERT_TRUE(hold_bytes((*bytes)->substr(0, 30'000)));
    std::filesystem::resize_file(path("a"), 20'000);
    EXPECT_EQ((*bytes)->substr(0, 30'000), std::string_view(text).substr(0, 30'000));
    EXPECT_EQ((*bytes)->substr(70'000), std::string_view(text).substr(70'000));
    EXPECT_FALSE(hold_bytes((*bytes)->substr(40'000, 1)));  // dropped and shorter now
}

TEST_F(MappedFile, HoldsAndDropsPartsInAnyOrder) {
    const std::string text = numbers(200'000);
    ASSERT_TRUE(write_file(path("a"), text));
    const auto bytes = map_file(path("a"));
    ASSERT_TRUE(bytes);
    uint32_t random = 1;
    const auto next = [&](size_t limit) {
        random = random * 1664525 + 1013904223;
        return (random >> 8) % limit;
    };
    for (int i = 0; i < 2000; ++i) {
        const size_t begin = next(text.size());
        const std::string_view part = (*bytes)->substr(begin, next(text.size() - begin) + 1);
        if (next(2) == 0) {
            ASSERT_TRUE(hold_bytes(part)) << i;
        } else {
            drop_pages(part);
        }
        if (i % 50 == 0) {
            ASSERT_EQ(**bytes, text) << i;
        }
    }
    ASSERT_TRUE(hold_bytes(**bytes));
    std::filesystem::resize_file(path("a"), 0);
    EXPECT_EQ(**bytes, text);
}

TEST_F(MappedFile, WritesThroughLinks) {
    ASSERT_TRUE(write_file(path("a"), "old"));
    std::filesystem::create_symlink("a", path("link"));
    ASSERT_TRUE(write_file(path("link"), "new"));
    EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
    EXPECT_EQ(*read_file(path("a")), "new");
}

}  // namespace
}  // namespace lemma::tensor
