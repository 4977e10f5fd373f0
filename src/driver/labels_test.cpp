// SPDX-License-Identifier: Apache-2.0
#include "driver/labels.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "tensor/files/file_io.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

class Labels : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "lemma-labels-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    void TearDown() override { fs::remove_all(folder_); }
    Result<std::vector<std::string>> labels(const std::string& text) const {
        const std::string path = (folder_ / "labels").string();
        EXPECT_TRUE(tensor::write_file(path, text));
        return read_labels(path);
    }
    std::string error(const std::string& text) const {
        const auto read = labels(text);
        return read ? "" : read.error().message;
    }

    fs::path folder_;
};

using Names = std::vector<std::string>;

TEST_F(Labels, AreLinesOrJson) {
    EXPECT_EQ(*labels("tench\r\ngold fish\n"), (Names{"tench", "gold fish"}));
    EXPECT_EQ(*labels("tench"), (Names{"tench"}));
    EXPECT_EQ(*labels(R"(["tench", "shark"])"), (Names{"tench", "shark"}));
    EXPECT_EQ(*labels(R"({"1": "shark", "0": "tench"})"), (Names{"tench", "shark"}));
    EXPECT_EQ(*labels(R"({"2": ["n01440764", "tench"]})"), (Names{"", "", "tench"}));
    EXPECT_EQ(*labels(R"({"tench": 0, "shark": 1})"), (Names{"tench", "shark"}));
}

TEST_F(Labels, ErrorsSayWhatIsWrong) {
    EXPECT_NE(error("").find("has no labels"), std::string::npos);
    EXPECT_NE(error("[\"tench\"").find("no JSON document"), std::string::npos);
    EXPECT_NE(error("[\"tench\", 1.5]").find("entry 1 is no label"), std::string::npos);
    EXPECT_NE(error(R"({"0": "a", "00": "b"})").find("entry 1 is no label"), std::string::npos);
    EXPECT_NE(error(R"({"99999999999": "a"})").find("entry 0 is no label"), std::string::npos);
    EXPECT_NE(error(R"({"x": -1})").find("entry 0 is no label"), std::string::npos);
    EXPECT_NE(error(std::string(100'000, '[')), "");
    EXPECT_FALSE(read_labels((folder_ / "missing").string()));
}

}  // namespace

}  // namespace lemma::driver
