// SPDX-License-Identifier: Apache-2.0
// The files that a conversion leaves: all files of a valid model, or none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "convert/written.h"
#include "driver/driver.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

class Convert : public testing::Test {
protected:
    void SetUp() override {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::temp_directory_path() / fmt::format("lemma_convert_{}", test->name());
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    void TearDown() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    void write(const std::string& name, std::string_view text) const {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream(path(name)) << text;
    }
    std::string read(const std::string& name) const {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }
    // The names of all files and folders, including hidden ones.
    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto& entry : fs::recursive_directory_iterator(folder_))
            names.insert(fs::relative(entry.path(), folder_).string());
        return names;
    }
    Outcome convert(std::vector<std::string> args) const {
        args.insert(args.begin(), "convert");
        std::istringstream none;
        return run(args, {}, none);
    }

    fs::path folder_;
};

constexpr std::string_view kGoodModel =
    "import math;\ngraph G {\n@input { x: real[2]; }\n@output { y: real[2]; }\n"
    "@compose { y = math.neg(x); }\n}\n";
constexpr std::string_view kWithVariable =
    "import math;\ngraph G {\n@input { x: real[2]; }\n@output { y: real[2]; }\n"
    "@variable { w: real[2]; }\n@compose { y = math.mul(x, w); }\n}\n";

TEST_F(Convert, LeavesNothingBehindWhenItFails) {
    write("m.sknd", kWithVariable);  // without the data of `w`
    for (const std::string out : {"a.nnef", "b.sknd", "c.onnx", "d.nnef.tgz", "deep/down/e.nnef"}) {
        EXPECT_EQ(convert({path("m.sknd"), path(out)}).status, model::kUnusable) << out;
        EXPECT_EQ(files(), std::set<std::string>{"m.sknd"}) << out;
    }
}

TEST_F(Convert, LeavesNothingBehindBesideTheModel) {
    write("m.sknd", kGoodModel);
    EXPECT_EQ(convert({path("m.sknd"), path("deep/a.nnef")}).status, model::kGood);
    EXPECT_EQ(convert({path("m.sknd"), path("b.onnx"), "--external-data"}).status, model::kGood);
    EXPECT_EQ(convert({path("m.sknd"), path("c.sknd.tgz")}).status, model::kGood);
    const std::set<std::string> expected = {
        "m.sknd", "deep", "deep/a.nnef", "deep/a.nnef/graph.nnef", "b.onnx", "c.sknd.tgz"};
    EXPECT_EQ(files(), expected);
}

TEST_F(Convert, KeepsFilesUnlessForced) {
    write("m.sknd", kGoodModel);
    write("out/notes.txt", "mine");
    write("m.onnx", "mine");
    for (const std::string out : {"out", "m.onnx"}) {
        const Outcome refused = convert({path("m.sknd"), path(out), "--to=nnef1"});
        EXPECT_EQ(refused.status, model::kUnusable) << out;
    }
    EXPECT_EQ(convert({path("m.sknd"), path("m.onnx")}).status, model::kUnusable);
    EXPECT_EQ(read("m.onnx"), "mine");
    EXPECT_EQ(convert({path("m.sknd"), path("m.onnx"), "--force"}).status, model::kGood);
    EXPECT_NE(read("m.onnx"), "mine");
    EXPECT_EQ(convert({path("m.sknd"), path("out"), "--to=nnef1", "--force"}).status, model::kGood);
    EXPECT_EQ(read("out/notes.txt"), "mine");
    EXPECT_TRUE(fs::exists(path("out/graph.nnef")));
}

TEST_F(Convert, WritesIntoFoldersThatAreEmpty) {
    write("m.sknd", kGoodModel);
    fs::create_directories(path("out"));
    EXPECT_EQ(convert({path("m.sknd"), path("out/"), "--to=nnef1"}).status, model::kGood);
    EXPECT_EQ(files(), (std::set<std::string>{"m.sknd", "out", "out/graph.nnef"}));
}

TEST_F(Convert, ReplacesWhatLinksLeadTo) {
    write("m.sknd", kGoodModel);
    write("real.onnx", "old");
    fs::create_symlink("real.onnx", path("link.onnx"));
    EXPECT_EQ(convert({path("m.sknd"), path("link.onnx"), "--force"}).status, model::kGood);
    EXPECT_TRUE(fs::is_symlink(path("link.onnx")));
    EXPECT_NE(read("real.onnx"), "old");
    const Outcome device = convert({path("m.sknd"), "/dev/null", "--to=onnx", "--force"});
    EXPECT_EQ(device.status, model::kUnusable);
    EXPECT_NE(device.err.find("no regular file"), std::string::npos) << device.err;
}

TEST_F(Convert, CanReplaceTheModelItself) {
    write("m/main.sknd", kGoodModel);
    EXPECT_EQ(convert({path("m"), path("m"), "--to=sknd", "--force"}).status, model::kGood);
    EXPECT_NE(read("m/main.sknd").find("y = math.neg(x);"), std::string::npos);
}

TEST_F(Convert, WhatDoesNotCheckIsOurFault) {
    write("good/main.sknd", kGoodModel);
    write("bad/main.sknd",
          "graph G { @input { x: real[2]; } @output { y: real[2]; } "
          "@compose { y = math.neg(x); } }\n");
    write("no_data/main.sknd", kWithVariable);
    const auto status = [&](const std::string& model, bool data) {
        model::Finding finding{.model = model, .diag = Diagnostics()};
        const bool good = convert::load_written(path(model), data, finding).good;
        EXPECT_EQ(good, finding.status == model::kGood);
        EXPECT_EQ(finding.diag.has_errors(), finding.status != model::kGood);
        return finding.status;
    };
    EXPECT_EQ(status("good", true), model::kGood);
    EXPECT_EQ(status("bad", true), model::kFault);
    EXPECT_EQ(status("no_data", false), model::kGood);
    EXPECT_EQ(status("no_data", true), model::kFault);
    EXPECT_EQ(status("missing", true), model::kFault);
}

}  // namespace

}  // namespace lemma::driver
