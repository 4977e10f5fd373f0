// SPDX-License-Identifier: Apache-2.0
#include "model/onnx/external.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace lemma::model {
namespace {

namespace fs = std::filesystem;

class External : public testing::Test {
protected:
    External() {
        std::string pattern = (fs::temp_directory_path() / "externalXXXXXX").string();
        root_ = ::mkdtemp(pattern.data());
        fs::create_directories(root_ / "model" / "data");
        read_ = external_reader((root_ / "model" / "model.onnx").string());
        write("model/weights.bin", "0123456789");
        write("model/data/more.bin", "abc");
        write("secret.bin", "secret");
    }
    ~External() override { fs::remove_all(root_); }
    void write(const std::string& name, const std::string& bytes) const {
        ASSERT_TRUE(tensor::write_file((root_ / name).string(), bytes));
    }
    // The bytes, or the error.
    std::string get(const tensor::ExternalData& place) const {
        const auto bytes = read_(place);
        return bytes ? std::string(**bytes) : bytes.error().message;
    }
    std::string outside(const std::string& location) const {
        return "its data is in `" + location + "`, which is not in the folder of the model";
    }

    fs::path root_;
    tensor::ReadExternal read_;
};

TEST_F(External, GivesPartsOfFiles) {
    EXPECT_EQ(get({.location = "weights.bin", .length = {}}), "0123456789");
    EXPECT_EQ(get({.location = "weights.bin", .offset = 7, .length = {}}), "789");
    EXPECT_EQ(get({.location = "weights.bin", .offset = 2, .length = 3}), "234");
    EXPECT_EQ(get({.location = "weights.bin", .offset = 10, .length = 0}), "");
    EXPECT_EQ(get({.location = "./data/more.bin", .length = {}}), "abc");
}

TEST_F(External, RefusesPartsThatAreNotThere) {
    const std::string path = (root_ / "model" / "weights.bin").string();
    EXPECT_EQ(get({.location = "weights.bin", .offset = 11, .length = {}}),
              "its data begins at byte 11 of `" + path + "`, which has 10");
    EXPECT_EQ(get({.location = "weights.bin", .offset = 8, .length = 3}),
              "its data are 3 bytes from byte 8 of `" + path + "`, which has 10");
    EXPECT_EQ(get({.location = "weights.bin", .offset = 8, .length = INT64_MAX}),
              "its data are 9223372036854775807 bytes from byte 8 of `" + path + "`, which has 10");
    EXPECT_EQ(get({.location = "weights.bin", .offset = INT64_MAX, .length = INT64_MAX}),
              "its data begins at byte 9223372036854775807 of `" + path + "`, which has 10");
}

TEST_F(External, StaysInTheFolderOfTheModel) {
    const std::string absolute = (root_ / "secret.bin").string();
    EXPECT_EQ(get({.location = "../secret.bin", .length = {}}), outside("../secret.bin"));
    EXPECT_EQ(get({.location = "data/../../secret.bin", .length = {}}),
              outside("data/../../secret.bin"));
    EXPECT_EQ(get({.location = absolute, .length = {}}), outside(absolute));
    EXPECT_EQ(get({.location = std::string("weights.bin\0x", 13), .length = {}}),
              outside("weights.bin<00>x"));
    EXPECT_EQ(get({.location = "", .length = {}}),
              "its data is in another file, which it does not name");
    fs::create_symlink("../secret.bin", root_ / "model" / "link.bin");
    EXPECT_EQ(get({.location = "link.bin", .length = {}}), outside("link.bin"));
    fs::create_directory_symlink("..", root_ / "model" / "up");
    EXPECT_EQ(get({.location = "up/secret.bin", .length = {}}), outside("up/secret.bin"));
    fs::create_symlink("data/more.bin", root_ / "model" / "inner.bin");
    EXPECT_EQ(get({.location = "inner.bin", .length = {}}), "abc");
}

TEST_F(External, TakesRegularFilesAlone) {
    const std::string pipe = (root_ / "model" / "pipe").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(get({.location = "pipe", .length = {}}),
              "cannot read `" + pipe + "`: it is not a regular file");
    EXPECT_EQ(get({.location = "data", .length = {}}),
              "cannot read `" + (root_ / "model" / "data").string() + "`: it is a folder");
}

TEST_F(External, ReachesBeyondTwoAndFourGibibytes) {
    const std::string path = (root_ / "model" / "large.bin").string();
    const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    const int64_t two = (int64_t{1} << 31) + 12;
    const int64_t five = int64_t{5} << 30;
    const bool sparse =
        ::pwrite(file, "weights", 7, two) == 7 && ::pwrite(file, "end", 3, five) == 3;
    ::close(file);
    ASSERT_TRUE(sparse) << "the folder of temporary files must have sparse files of 5 GiB";
    EXPECT_EQ(get({.location = "large.bin", .offset = two, .length = 7}), "weights");
    EXPECT_EQ(get({.location = "large.bin", .offset = five, .length = {}}), "end");
    const auto most = read_({.location = "large.bin", .offset = 4, .length = five});
    ASSERT_FALSE(most);
    const auto all = read_({.location = "large.bin", .offset = 0, .length = five + 3});
    ASSERT_TRUE(all);  // which costs no memory
    EXPECT_EQ((*all)->substr(static_cast<size_t>(two), 7), "weights");
}

}  // namespace
}  // namespace lemma::model
