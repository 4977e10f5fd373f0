// SPDX-License-Identifier: Apache-2.0
// `lemma verify --bisect` where compiled code rounds differently from the interpreter.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "driver/driver.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {
namespace {

namespace fs = std::filesystem;

class Bisect : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "lemma-bisect-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    void TearDown() override { fs::remove_all(folder_); }

    // The report on the graph with these statements, for exact equality.
    Outcome bisect(const std::string& statements, const std::string& numerics) const {
        const std::string model = (folder_ / "net.sknd").string();
        const std::string text =
            "import math;\ngraph Main {\n    @input { a: real[64, 64]; b: real[64, 64]; }\n"
            "    @output { y: real[64, 64]; }\n    @compose {\n" +
            statements + "    }\n}\n";
        EXPECT_TRUE(tensor::write_file(model, text));
        std::istringstream nothing;
        return run({"verify",
                    "--bisect",
                    model,
                    "--random-inputs",
                    "--rtol=0",
                    "--atol=0",
                    "--no-cache",
                    "--numerics=" + numerics},
                   {},
                   nothing);
    }

    fs::path folder_;
};

constexpr const char* kChain =
    "        p = math.add(a, b);\n        q = math.exp(p);\n        y = math.mul(q, 2.0);\n";

TEST_F(Bisect, NamesTheFirstOperationThatRoundsDifferently) {
    const Outcome outcome = bisect(kChain, "fast");
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_NE(outcome.out.find("first difference is in `math.exp` (q), operation 1 of 3"),
              std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find("input    x = p: equal"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("this operation makes the difference"), std::string::npos);
}

TEST_F(Bisect, FindsNothingInStrictCode) {
    const Outcome outcome = bisect(kChain, "strict");
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find("no difference\n  compared 3 of 3 tensors"), std::string::npos)
        << outcome.out;
}

TEST_F(Bisect, NamesTheConstructOfTensorsThatAreNotKept) {
    const Outcome outcome = bisect(
        "        p = math.add(a, b);\n        y = with h = p do..(2) math.exp(h);\n", "fast");
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_NE(outcome.out.find("first difference is in `loop` (y), operation 1 of 2"),
              std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find("the tensors inside of this loop are not compared"),
              std::string::npos);
}

// A product that is kept is rounded; one that is fused into a sum need not be.
TEST_F(Bisect, FindsDifferencesThatVanishWithTheKeptTensors) {
    const Outcome outcome = bisect(
        "        p = math.mul(a, b);\n        q = math.sub(p, a);\n        y = math.mul(q, 2.0);\n",
        "fast");
    const bool fused = __builtin_cpu_supports("fma") != 0;
    EXPECT_EQ(outcome.status, fused ? 1 : 0) << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find(fused ? "first difference is in `math.sub` (q)" : "no difference"),
              std::string::npos)
        << outcome.out;
    EXPECT_EQ(outcome.out.find("computed together") != std::string::npos, fused);
}

}  // namespace
}  // namespace lemma::driver
