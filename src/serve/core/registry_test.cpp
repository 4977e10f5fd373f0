// SPDX-License-Identifier: Apache-2.0
#include "serve/core/registry.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace lemma::serve {
namespace {

namespace fs = std::filesystem;

class Places : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "lemma-places-XXXXXX").string();
        folder_ = mkdtemp(name.data());
        for (const char* const file : {"net.onnx",
                                       "repo/1/model.onnx",
                                       "repo/10/net.onnx",
                                       "repo/2/main.sknd",
                                       "two/a.onnx",
                                       "two/b.onnx"}) {
            fs::create_directories((folder_ / file).parent_path());
            std::ofstream(folder_ / file) << "x";
        }
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::string at(const std::string& path) const { return (folder_ / path).string(); }

    fs::path folder_;
};

TEST_F(Places, AreNamedByTheirFilesOrTheUser) {
    const auto plain = find_places(at("net.onnx"));
    ASSERT_TRUE(plain);
    EXPECT_EQ((*plain)[0].name, "net");
    EXPECT_EQ((*plain)[0].version, "1");
    const auto named = find_places("m:v2=" + at("net.onnx"));
    ASSERT_TRUE(named);
    EXPECT_EQ((*named)[0].name, "m");
    EXPECT_EQ((*named)[0].version, "v2");
    EXPECT_EQ((*named)[0].path, at("net.onnx"));
}

TEST_F(Places, HaveAVersionInEachNumberedFolder) {
    const auto places = find_places(at("repo") + "/");
    ASSERT_TRUE(places);
    ASSERT_EQ(places->size(), 3U);
    EXPECT_EQ((*places)[0].path, at("repo/1/model.onnx"));
    EXPECT_EQ((*places)[1].path, at("repo/2"));
    EXPECT_EQ((*places)[2].path, at("repo/10/net.onnx"));
    EXPECT_EQ((*places)[0].name, "repo");
    auto registry = Registry::create(*places);
    ASSERT_TRUE(registry);
    EXPECT_EQ((*registry)->find("repo", "")->place.version, "10");
    EXPECT_EQ((*registry)->find("repo", "2")->place.version, "2");
    EXPECT_EQ((*registry)->find("repo", "3"), nullptr);
    EXPECT_EQ((*registry)->versions("repo"), (std::vector<std::string>{"1", "2", "10"}));
    EXPECT_FALSE((*registry)->ready());
}

TEST_F(Places, AreRefusedWithAReason) {
    for (const std::string& argument : {at("missing.onnx"),
                                        "=" + at("net.onnx"),
                                        "a/b=" + at("net.onnx"),
                                        "a:=" + at("net.onnx"),
                                        at("two")}) {
        const auto places = find_places(argument);
        ASSERT_FALSE(places) << argument;
        EXPECT_FALSE(places.error().message.empty());
    }
    EXPECT_FALSE(Registry::create({{"m", "1", "a"}, {"n", "1", "b"}, {"m", "1", "c"}}));
}

TEST(Versions, AreOrderedAsNumbers) {
    EXPECT_TRUE(version_before("9", "10"));
    EXPECT_FALSE(version_before("10", "9"));
    EXPECT_TRUE(version_before("10", "a"));
    EXPECT_TRUE(version_before("a", "b"));
}

}  // namespace
}  // namespace lemma::serve
