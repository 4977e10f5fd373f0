// SPDX-License-Identifier: Apache-2.0
// What `lemma new` writes is correct, laid out, and passes its own test.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "driver/driver.h"
#include "driver/new/templates.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {
namespace {

namespace fs = std::filesystem;

class New : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "lemma-new-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    static Outcome command(const std::vector<std::string>& words) {
        std::istringstream nothing;
        return run(words, {}, nothing);
    }
    static void expect_good(const std::vector<std::string>& words, const std::string& end = "") {
        const Outcome outcome = command(words);
        EXPECT_EQ(outcome.status, 0) << words[0] << ": " << outcome.out << outcome.err;
        EXPECT_EQ(outcome.err, "") << words[0];
        EXPECT_TRUE(outcome.out.ends_with(end)) << outcome.out;
    }

    fs::path folder_;
};

TEST_F(New, AnOperatorPassesItsTest) {
    expect_good({"new", "operator", path("softly")});
    expect_good({"check", "--module", path("softly.sknd")});
    expect_good({"fmt", "--check", path("softly.sknd")});
    expect_good({"test", path("softly.test")}, "3 passed, 0 failed\n");
}

TEST_F(New, AModulePassesItsTest) {
    expect_good({"new", "module", path("ops/own.sknd")});
    expect_good({"check", "--module", path("ops/own.sknd")});
    expect_good({"fmt", "--check", path("ops/own.sknd")});
    expect_good({"test", path("ops")}, "4 passed, 0 failed\n");
}

TEST_F(New, ModelsRunAndPassTheirTests) {
    for (const std::string format : {"sknd", "nnef1"}) {
        const std::string net = path("my-net 1 " + format);
        expect_good({"new", "model", net, "--format=" + format});
        expect_good({"check", net});
        expect_good({"fmt", "--check", net + (format == "sknd" ? "/main.sknd" : "/graph.nnef")});
        expect_good({"run", net, "--random-inputs"});
        expect_good({"test", net},
                    format == "sknd" ? "2 passed, 0 failed\n" : "1 passed, 0 failed\n");
    }
}

TEST_F(New, OverwritesNothing) {
    ASSERT_TRUE(tensor::write_file(path("mine.test"), "kept"));
    const Outcome outcome = command({"new", "operator", path("mine")});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find("mine.test` exists already"), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(path("mine.sknd")));
    EXPECT_EQ(*tensor::read_file(path("mine.test")), "kept");
}

TEST_F(New, RefusesNamesThatCannotBeWritten) {
    EXPECT_EQ(command({"new", "operator", path("real")}).status, 2);
    EXPECT_EQ(command({"new", "operator", path("a b")}).status, 2);
    EXPECT_EQ(command({"new", "model", ".."}).status, 2);
    EXPECT_EQ(command({"new", "thing", path("x")}).status, 2);
    EXPECT_EQ(command({"new", "operator", path("x"), "--format=nnef1"}).status, 2);
    EXPECT_EQ(as_identifier("my-net"), "my_net");
    EXPECT_EQ(as_identifier("3d"), "n3d");
    EXPECT_EQ(as_identifier("graph"), "graph_");
    EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace lemma::driver
