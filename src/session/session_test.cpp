// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tensor/files/file_io.h"

namespace lemma::session {
namespace {

namespace fs = std::filesystem;

// Large enough to be compiled.
constexpr const char* kModel = R"(import linalg;

graph Net {
    @input { a: real[128, 128]; }
    @output { y: real[128, 128]; }
    @compose { y = linalg.matmul(a, a); }
}
)";

constexpr const char* kOtherProcessor =
#ifdef __aarch64__
    "sse2";
#else
    "aarch64";
#endif

class SessionTest : public testing::Test {
protected:
    SessionTest() {
        std::string pattern = (fs::temp_directory_path() / "sessionXXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        EXPECT_TRUE(tensor::write_file(model(), kModel));
        options_.compile.target = kOtherProcessor;
        options_.compile.no_cache = true;
    }
    ~SessionTest() override { fs::remove_all(folder_); }

    std::string model() const { return (folder_ / "main.sknd").string(); }
    std::string cache() const { return (folder_ / "cache").string(); }
    int64_t files_in_cache() const {
        std::error_code none;
        return std::distance(fs::directory_iterator(cache(), none), {});
    }
    static interpret::NamedArrays ones() {
        auto tensor = tensor::Tensor::zeros(tensor::DType::F32, {128, 128}).value();
        for (int64_t i = 0; i < 128 * 128; ++i) tensor.set_real(i, 1.0);
        interpret::Array array = interpret::to_array(tensor).value();
        return {{"a", {std::move(array)}}};
    }

    SessionOptions options_;

private:
    fs::path folder_;
};

TEST_F(SessionTest, SaysOnceThatTheInterpreterStepsIn) {
    model::Finding finding;
    const auto session = Session::open(model(), options_, finding);
    ASSERT_NE(session, nullptr);
    for (int i = 0; i < 3; ++i) {
        const auto outputs = session->step(ones(), finding);
        ASSERT_TRUE(outputs);
        EXPECT_EQ(outputs->at("y")[0].reals[5], 128.0);
    }
    ASSERT_EQ(finding.remarks.size(), 1U);
    EXPECT_EQ(finding.remarks[0].message,
              "the interpreter runs it, which is slow: code for another processor cannot run here");
    EXPECT_EQ(finding.status, model::kGood);
}

TEST_F(SessionTest, FailsWithTheEngineThatWasAskedFor) {
    options_.engine = EngineKind::Jit;
    model::Finding finding;
    const auto session = Session::open(model(), options_, finding);
    if (session) {
        EXPECT_FALSE(session->step(ones(), finding));
    }
    EXPECT_EQ(finding.status, model::kUnusable);
    ASSERT_TRUE(finding.unusable);
    EXPECT_EQ(finding.unusable->message, "code for another processor cannot run here");
    EXPECT_TRUE(finding.remarks.empty());
}

TEST_F(SessionTest, KeepsTheProgramOfAnOnnxModelThatIsCompiled) {
    const std::string pool = LEMMA_SOURCE_DIR "/tests/golden/onnx/inputs/max_pool.onnx";
    options_.compile = {.cache_folder = cache()};
    for (const EngineKind engine : {EngineKind::Interpret, EngineKind::Jit, EngineKind::Jit}) {
        options_.engine = engine;
        const int64_t before = files_in_cache();
        model::Finding finding;
        const auto session = Session::open(pool, options_, finding);
        ASSERT_NE(session, nullptr);
        // The plan and its kernels come with the first run.
        const bool first = engine == EngineKind::Jit && before == 0;
        EXPECT_EQ(files_in_cache(), before + (first ? 1 : 0));
        auto tensor = tensor::Tensor::zeros(tensor::DType::F32, {1, 1, 2, 3}).value();
        for (int64_t i = 0; i < 6; ++i) tensor.set_real(i, static_cast<double>(i));
        const auto outputs = session->step({{"x", {interpret::to_array(tensor).value()}}}, finding);
        ASSERT_TRUE(outputs);
        EXPECT_EQ(outputs->at("y")[0].reals, (std::vector<double>{4, 5}));
        EXPECT_TRUE(finding.remarks.empty());
    }
}

TEST_F(SessionTest, NeedsNoCache) {
    EXPECT_TRUE(tensor::write_file(cache(), "a file, not a folder"));
    options_.compile = {.cache_folder = cache()};
    options_.engine = EngineKind::Jit;
    model::Finding finding;
    const auto session = Session::open(
        LEMMA_SOURCE_DIR "/tests/golden/onnx/inputs/max_pool.onnx", options_, finding);
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(finding.status, model::kGood);
}

}  // namespace
}  // namespace lemma::session
