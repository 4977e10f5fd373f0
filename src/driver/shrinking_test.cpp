// SPDX-License-Identifier: Apache-2.0
// Models whose files change while a session uses them.
#include <gtest/gtest.h>

#include <filesystem>

#include "onnx/test_model.h"
#include "session/session.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSize = 600;

// All elements one.
std::string matrix() {
    const std::vector<float> ones(kSize * kSize, 1.0F);
    onnx::test::WireWriter message;
    message.put_int(1, kSize);
    message.put_int(1, kSize);
    message.put_int(2, 1);
    message.put_bytes(8, "w");
    message.put_bytes(9, {reinterpret_cast<const char*>(ones.data()), ones.size() * sizeof(float)});
    return message.take();
}

class ShrinkingModel : public testing::TestWithParam<session::EngineKind> {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "lemma-shrink-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        path_ = (folder_ / "model.onnx").string();
        const onnx::test::TestGraph graph = {.inputs = {{"x", {-1, kSize}}},
                                             .outputs = {{"y", {-1, kSize}}},
                                             .nodes = {{"MatMul", {"x", "w"}, {"y"}}},
                                             .initializers = {matrix()}};
        ASSERT_TRUE(tensor::write_file(path_, onnx::test::model_bytes(graph)));
        session::SessionOptions options;
        options.engine = GetParam();
        options.compile.no_cache = true;
        session_ = session::Session::open(path_, options, finding_);
        ASSERT_TRUE(session_) << (finding_.unusable ? finding_.unusable->message : "");
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::optional<interpret::NamedArrays> step(int64_t rows) {
        interpret::Array x = interpret::Array::zeros(tensor::DType::F32, {rows, kSize}).value();
        for (double& value : x.reals) value = 2;
        return session_->step({{"x", {x}}}, finding_);
    }

    fs::path folder_;
    std::string path_;
    model::Finding finding_{.model = "", .diag = Diagnostics()};
    std::unique_ptr<session::Session> session_;
};

// The engine packs the weights from the file for each number of rows.
TEST_P(ShrinkingModel, IsReadAgainForOtherExtents) {
    for (const int64_t rows : {1, 3}) {
        const auto outputs = step(rows);
        ASSERT_TRUE(outputs);
        for (const double value : outputs->at("y")[0].reals) ASSERT_EQ(value, 2.0 * kSize);
    }
}

TEST_P(ShrinkingModel, IsReportedBeforeItsWeightsAreRead) {
    fs::resize_file(path_, 100);
    if (GetParam() == session::EngineKind::Interpret) {  // it read them when the session was opened
        EXPECT_TRUE(step(1));
        return;
    }
    EXPECT_FALSE(step(1));
    ASSERT_EQ(finding_.diag.items().size(), 1U);
    EXPECT_NE(finding_.diag.items()[0].message.find("it became shorter while it was used"),
              std::string::npos)
        << finding_.diag.items()[0].message;
}

TEST_P(ShrinkingModel, RunsOnOnceItsWeightsAreThere) {
    ASSERT_TRUE(step(1));
    fs::resize_file(path_, 100);
    const auto outputs = step(1);
    ASSERT_TRUE(outputs);
    EXPECT_EQ(outputs->at("y")[0].reals[7], 2.0 * kSize);
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         ShrinkingModel,
                         testing::Values(session::EngineKind::Interpret, session::EngineKind::Jit));

}  // namespace
}  // namespace lemma::driver
