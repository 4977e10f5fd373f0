// SPDX-License-Identifier: Apache-2.0
#include "model/weights.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "driver/driver.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModel = R"(import math;

graph Net {
    @input { x: real[2]; }
    @output { y: real[2]; }
    @variable {
        scale: real[2];
        shift: real[2];
    }
    @compose {
        scaled = math.mul(x, scale);
        y = math.add(scaled, shift);
    }
}
)";

tensor::NamedTensor reals(const std::string& name, const std::vector<double>& values) {
    const auto size = static_cast<int64_t>(values.size());
    tensor::Tensor tensor = tensor::Tensor::zeros(tensor::DType::F16, {size}).value();
    for (int64_t i = 0; i < size; ++i) tensor.set_real(i, values[static_cast<size_t>(i)]);
    return {.name = name, .tensor = std::move(tensor)};
}

class WeightsFile : public testing::Test {
protected:
    WeightsFile() {
        std::string pattern = (fs::temp_directory_path() / "weightsXXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        EXPECT_TRUE(tensor::write_file((folder_ / "main.sknd").string(), kModel));
        EXPECT_TRUE(tensor::write_file((folder_ / "x.json").string(), "[3.0, 5.0]"));
    }
    ~WeightsFile() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    void write(std::vector<tensor::NamedTensor> tensors) const {
        ASSERT_TRUE(tensor::write_safetensors(path("w.safetensors"),
                                              {.tensors = std::move(tensors), .metadata = {}}));
    }
    Outcome run_model(std::vector<std::string> options) const {
        options.insert(options.begin(), {"run", "--brief", folder_.string(), "-i", path("x.json")});
        std::istringstream nothing;
        return run(options, {}, nothing);
    }
    Outcome with_weights() const { return run_model({"--weights=" + path("w.safetensors")}); }
    std::string error(const std::string& text) const {
        return path("w.safetensors") + ": error: " + text + "\n";
    }

    fs::path folder_;
};

TEST_F(WeightsFile, GivesVariablesTheirData) {
    write({reals("shift", {1, -1}), reals("scale", {10, 100})});
    const Outcome outcome = with_weights();
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.status, model::kGood);
    EXPECT_EQ(outcome.out, "y: f32[2], from 31 to 499, mean 265: 31 499\n");
}

TEST_F(WeightsFile, ComesBeforeTheDataOfTheModelWhichFillsWhatIsMissing) {
    write({reals("shift", {1, -1}), reals("scale", {10, 100})});
    ASSERT_EQ(
        run_model({"--weights=" + path("w.safetensors"), "--save-variables", folder_.string()})
            .status,
        model::kGood);
    write({reals("shift", {2, 2})});
    const Outcome outcome = with_weights();
    EXPECT_EQ(outcome.out, "y: f32[2], from 32 to 502, mean 267: 32 502\n") << outcome.err;
}

TEST_F(WeightsFile, IsWrittenFromTheVariables) {
    write({reals("shift", {1, -1}), reals("scale", {10, 100})});
    const std::string saved = path("saved.safetensors");
    ASSERT_EQ(run_model({"--weights=" + path("w.safetensors"), "--save-variables", saved}).status,
              model::kGood);
    const auto file = tensor::read_safetensors(saved);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_EQ(file->tensors.size(), 2u);
    for (const tensor::NamedTensor& named : file->tensors) {
        EXPECT_EQ(named.tensor.dtype(), tensor::DType::F32);
        EXPECT_EQ(named.tensor.real(1), named.name == "scale" ? 100 : -1) << named.name;
    }
    EXPECT_EQ(run_model({"--weights=" + saved}).out,
              "y: f32[2], from 31 to 499, mean 265: 31 499\n");
}

TEST_F(WeightsFile, NamesWhatIsMissingAndWhatIsUnknown) {
    write({reals("shfit", {1, -1}), reals("scale", {10, 100})});
    const Outcome outcome = with_weights();
    EXPECT_EQ(outcome.status, model::kWrong);
    EXPECT_EQ(outcome.err,
              error("the model has no variable `shfit` [unused-data]") +
                  error("no data for the variable `shift`, neither here nor with the model "
                        "[missing-data]"));
}

TEST_F(WeightsFile, ReportsShapesAndTypesThatDoNotFit) {
    tensor::NamedTensor whole = {.name = "shift",
                                 .tensor = tensor::Tensor::zeros(tensor::DType::I32, {2}).value()};
    write({reals("scale", {1, 2, 3}), std::move(whole)});
    const Outcome outcome = with_weights();
    EXPECT_EQ(outcome.status, model::kWrong);
    EXPECT_EQ(outcome.err,
              error("`scale` has the shape [3], expected [2] [bad-data]") +
                  error("`shift` has elements of i32, expected f32 [bad-data]"));
}

TEST_F(WeightsFile, RefusesOtherFiles) {
    EXPECT_EQ(
        run_model({"--weights=" + path("main.sknd")}).err,
        "lemma: `" + path("main.sknd") + "` cannot be weights: a .safetensors file is wanted\n");
    ASSERT_TRUE(tensor::write_file(path("w.safetensors"), "123"));
    const Outcome outcome = with_weights();
    EXPECT_EQ(outcome.status, model::kUnusable);
    EXPECT_NE(outcome.err.find("cannot read `" + path("w.safetensors") + "`"), std::string::npos)
        << outcome.err;
}

TEST_F(WeightsFile, NoticesAFileThatBecomesShorter) {
    write({reals("scale", std::vector<double>(100'000, 1.0)), reals("shift", {1, -1})});
    const auto weights = model::Weights::open(path("w.safetensors"));
    ASSERT_TRUE(weights) << weights.error().message;
    fs::resize_file(path("w.safetensors"), 5000);
    ir::Tensor shift;
    shift.name = "shift";
    shift.dtype = tensor::DType::F32;
    const auto read = weights->read(shift);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message,
              "cannot read `" + path("w.safetensors") + "`: it became shorter while it was used");
}

}  // namespace
}  // namespace lemma::driver
