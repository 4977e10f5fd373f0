// SPDX-License-Identifier: Apache-2.0
// Where a run reads its inputs and writes its outputs: .npz files, pictures and the
// standard streams.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <sstream>

#include "driver/driver.h"
#include "tensor/archive/npz_file.h"
#include "tensor/files/file_io.h"
#include "tensor/files/npy_file.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

constexpr const char* kTwo = R"(import math;
graph G {
    @input { a: real[2]; b: real[2]; }
    @output { s: real[2]; d: real[2]; }
    @compose { s = math.add(a, b); d = math.sub(a, b); }
}
)";
constexpr const char* kOne = R"(import math;
graph G {
    @input { x: real[2]; }
    @output { y: real[2]; }
    @compose { y = math.add(x, x); }
}
)";
constexpr const char* kSums =
    "s: f32[2], from 11 to 22, mean 16.5: 11 22\n"
    "d: f32[2], from -18 to -9, mean -13.5: -9 -18\n";

tensor::Tensor pair(double first, double second) {
    tensor::Tensor tensor = *tensor::Tensor::zeros(tensor::DType::F32, {2});
    tensor.set_real(0, first);
    tensor.set_real(1, second);
    return tensor;
}

class InputOutput : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "lemma-io-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        ASSERT_TRUE(tensor::write_file(path("two.sknd"), kTwo));
        ASSERT_TRUE(tensor::write_file(path("one.sknd"), kOne));
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    // The names of the two arrays of the file.
    std::string npz(const std::string& first, const std::string& second) const {
        const std::vector<tensor::NamedTensor> arrays = {{first, pair(1, 2)},
                                                         {second, pair(10, 20)}};
        EXPECT_TRUE(tensor::write_npz(path("in.npz"), arrays));
        return path("in.npz");
    }
    static Outcome lemma(const std::vector<std::string>& words,
                         const std::string& bytes = "",
                         Terminal terminal = {}) {
        std::istringstream input(bytes);
        return run(words, terminal, input);
    }

    fs::path folder_;
};

TEST_F(InputOutput, ArraysOfAFileAreInputsByName) {
    EXPECT_EQ(lemma({"run", path("two.sknd"), "-i", npz("a", "b")}).out, kSums);
    EXPECT_EQ(lemma({"run", path("two.sknd"), "-i", npz("arr_0", "arr_1")}).out, kSums);
    const std::string file = npz("a", "b");
    EXPECT_EQ(lemma({"run", path("two.sknd"), "-i", "b=" + file, "-i", "a=" + file}).out, kSums);
}

TEST_F(InputOutput, AnArrayThatIsNoInputIsAnError) {
    const std::string file = npz("a", "c");
    const Outcome outcome = lemma({"run", path("two.sknd"), "-i", file});
    EXPECT_EQ(outcome.status, model::kUnusable);
    EXPECT_EQ(outcome.err,
              "lemma: `" + file + "`: there is no input `c`; the inputs are a, b; `-i NAME=" +
                  file + "` takes one array alone\n");
    const Outcome one = lemma({"run", path("two.sknd"), "-i", "b=" + file});
    EXPECT_EQ(one.err, "lemma: `" + file + "` has no array `b`; it has `a`, `c`\n");
    EXPECT_EQ(lemma({"run", path("two.sknd"), "-i", "a=" + file, "-i", file}).err,
              "lemma: the input `a` is given twice\n");
}

TEST_F(InputOutput, WritesAllOutputsToOneFile) {
    ASSERT_EQ(lemma({"run", path("two.sknd"), "-i", npz("a", "b"), "-o", path("out.npz")}).err, "");
    const auto read = tensor::read_tensors(path("out.npz"), FileKind::Regular);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), 2);
    EXPECT_EQ((*read)[0].name, "d");
    EXPECT_EQ((*read)[0].tensor.real(1), -18);
    EXPECT_EQ((*read)[1].name, "s");
    EXPECT_EQ((*read)[1].tensor.real(1), 22);
}

TEST_F(InputOutput, StandardStreamsHoldOneTensor) {
    const std::string bytes = *tensor::encode_npy(pair(3, 4));
    const Outcome outcome = lemma({"run", path("one.sknd"), "-i", "-", "-o", "-"}, bytes);
    ASSERT_EQ(outcome.err, "");
    const auto result = tensor::decode_npy(outcome.out);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->real(1), 8);
    ASSERT_EQ(lemma({"run", path("one.sknd"), "-i", "x=-", "-o", path("y.npy")}, bytes).err, "");
    EXPECT_EQ(tensor::read_npy(path("y.npy"))->real(0), 6);
}

TEST_F(InputOutput, StandardInputMayHoldSeveralArrays) {
    const std::string bytes = *tensor::read_file(npz("a", "b"));
    EXPECT_EQ(lemma({"run", path("two.sknd"), "-i", "-"}, bytes).out, kSums);
}

// The beginning of a picture of two pixels.
const std::string kPng("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\2\0\0\0\1\b\0\0\0\0\0\0\0\0", 33);

TEST_F(InputOutput, PicturesNeedARecipe) {
    ASSERT_TRUE(tensor::write_file(path("a.png"), kPng));
    const Outcome outcome = lemma({"run", path("one.sknd"), "-i", path("a.png")});
    EXPECT_EQ(outcome.status, model::kUnusable);
    EXPECT_NE(outcome.err.find("it is a picture"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("--preprocess=help"), std::string::npos);
    const Outcome wrong =
        lemma({"run", path("one.sknd"), "-i", path("a.png"), "--preprocess=imagnet"});
    EXPECT_NE(wrong.err.find("no recipe `imagnet`"), std::string::npos) << wrong.err;
    const Outcome damaged =
        lemma({"run", path("one.sknd"), "-i", path("a.png"), "--preprocess=raw"});
    EXPECT_NE(damaged.err.find("the PNG file is damaged"), std::string::npos) << damaged.err;
}

TEST_F(InputOutput, HelpOfPicturesNeedsNoModel) {
    const Outcome one = lemma({"run", "--preprocess=help"});
    EXPECT_EQ(one.status, model::kGood);
    EXPECT_NE(one.out.find("imagenet"), std::string::npos);
    EXPECT_EQ(lemma({"bench", "--preprocess", "help"}).out, one.out);
}

TEST_F(InputOutput, LabelsNameTheClasses) {
    ASSERT_TRUE(tensor::write_file(path("labels.txt"), "cat\nevil\x1b[2J\n"));
    ASSERT_TRUE(tensor::write_npy(path("x.npy"), pair(1, 2)));
    const std::vector<std::string> line = {
        "run", path("one.sknd"), "-i", path("x.npy"), "--labels", path("labels.txt")};
    const Outcome outcome = lemma(line);
    EXPECT_EQ(outcome.err, "");
    EXPECT_NE(outcome.out.find("\n    1. evil<1b>[2J  4\n    2. cat          2\n"),
              std::string::npos)
        << outcome.out;
}

TEST_F(InputOutput, AModelMayComeFromStandardInput) {
    EXPECT_EQ(lemma({"check", "-v", "-"}, kTwo).out, "-: ok\n");
    EXPECT_NE(lemma({"show", "-"}, kTwo).out.find("math.add"), std::string::npos);
    const Outcome ran = lemma({"run", "-", "-i", npz("a", "b")}, kTwo);
    EXPECT_EQ(ran.out, kSums) << ran.err;
    ASSERT_EQ(lemma({"convert", "-", path("two.onnx")}, kTwo).status, model::kGood);
    const std::string onnx = *tensor::read_file(path("two.onnx"));
    EXPECT_EQ(lemma({"run", "-", "-i", npz("a", "b")}, onnx).out, kSums);
    EXPECT_EQ(lemma({"check", "-v", "-", "--format=onnx"}, onnx).out, "-: ok\n");
    ASSERT_EQ(lemma({"convert", "-", path("two.nnef.tgz")}, onnx).status, model::kGood);
    const std::string archive = *tensor::read_file(path("two.nnef.tgz"));
    EXPECT_EQ(lemma({"run", "-", "-i", npz("a", "b")}, archive).out, kSums);
}

TEST_F(InputOutput, AFaultOnStandardInputHasItsPlace) {
    const Outcome wrong =
        lemma({"check", "--brief", "-"}, "graph G {\n    @compose { y = ; }\n}\n");
    EXPECT_EQ(wrong.status, model::kWrong);
    EXPECT_TRUE(wrong.err.starts_with("<stdin>.sknd:2:20: error: ")) << wrong.err;
    EXPECT_EQ(lemma({"check", "-"}, "").err,
              "lemma: cannot read `<stdin>`: it is empty [unreadable-file]\n");
    EXPECT_NE(lemma({"check", "-", "-"}, kTwo).err.find("named twice"), std::string::npos);
    EXPECT_NE(lemma({"run", "-", "-i", "-"}, kTwo).err.find("named twice"), std::string::npos);
    EXPECT_EQ(lemma({"check", "--format=onnx", "-"}, kTwo).status, model::kUnusable);
}

TEST_F(InputOutput, StandardStreamsAreUsedOnce) {
    const std::string bytes = *tensor::encode_npy(pair(3, 4));
    const auto error = [&](std::vector<std::string> words, Terminal terminal = {}) {
        words.insert(words.begin(), {"run", path("one.sknd")});
        const Outcome outcome = lemma(words, bytes, terminal);
        EXPECT_EQ(outcome.status, model::kUnusable);
        EXPECT_EQ(outcome.out, "");
        return outcome.err;
    };
    EXPECT_NE(error({"-i", "-", "-i", "x=-"}).find("named twice"), std::string::npos);
    EXPECT_NE(error({"-i", "-", "-o", "-", "--top=1"}).find("both print"), std::string::npos);
    EXPECT_NE(error({"-i", "-", "-o", "-"}, {.out = true}).find("a terminal"), std::string::npos);
    EXPECT_NE(error({"--steps", path("s"), "-o", path("y.npz")}).find("is a file"),
              std::string::npos);
    const Outcome many = lemma({"run", path("two.sknd"), "--random-inputs", "-o", "-"});
    EXPECT_NE(many.err.find("takes one output, but there are 2"), std::string::npos) << many.err;
}

}  // namespace

}  // namespace lemma::driver
