// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/tensor_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tensor/files/file_io.h"

namespace lemma::tensor {

namespace {

namespace fs = std::filesystem;

class TensorFile : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("lemma_tensor_file_" + std::to_string(getpid()));
        fs::create_directories(folder_);
        named_.name = "x";
        named_.tensor = Tensor::zeros(DType::I32, {2, 2}).value();
        for (int64_t i = 0; i < 4; ++i) named_.tensor.set_integer(i, 10 * i);
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    void expect_same(const std::string& name) const {
        const auto read = read_tensor_file(path(name));
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_EQ(read->tensor.dtype(), DType::I32);
        EXPECT_EQ(read->tensor.shape(), (Shape{2, 2}));
        EXPECT_EQ(read->tensor.integer(3), 30);
    }

    fs::path folder_;
    NamedTensor named_;
};

TEST_F(TensorFile, ReadsBackEachFormat) {
    for (const char* name : {"x.npy", "x.dat", "x.pb", "X.NPY"}) {
        ASSERT_TRUE(write_tensor_file(path(name), named_));
        expect_same(name);
    }
    EXPECT_EQ(read_tensor_file(path("x.pb"))->name, "x");
    EXPECT_EQ(read_tensor_file(path("x.npy"))->name, "");
}

TEST_F(TensorFile, KnowsFormatsByTheirFirstBytes) {
    for (const char* name : {"x.npy", "x.dat"}) {
        ASSERT_TRUE(write_tensor_file(path(name), named_));
        fs::rename(path(name), path("renamed"));
        expect_same("renamed");
    }
}

TEST_F(TensorFile, SaysWhatCanBeRead) {
    ASSERT_TRUE(write_file(path("x.txt"), "1 2 3"));
    EXPECT_EQ(
        read_tensor_file(path("x.txt")).error().message,
        "cannot read `" + path("x.txt") +
            "`: its format is not known; tensors are read from .npy and .npz (NumPy), .dat (NNEF), "
            ".pb (ONNX) and .json files");
    EXPECT_EQ(write_tensor_file(path("x.txt"), named_).error().message,
              "cannot write `" + path("x.txt") +
                  "`: its format is not known; tensors are written to .npy (NumPy), .dat (NNEF), "
                  ".pb (ONNX) and .json files");
    EXPECT_EQ(read_tensor_file(path("none.npy")).error().message,
              "cannot read `" + path("none.npy") + "`: there is no such file or folder");
}

TEST_F(TensorFile, NamesTheFileInErrors) {
    ASSERT_TRUE(write_file(path("x.dat"), "N"));
    EXPECT_EQ(read_tensor_file(path("x.dat")).error().message,
              "cannot read `" + path("x.dat") + "`: it has 1 bytes, but a header has 128");
    named_.tensor = Tensor::zeros(DType::Str, {1}).value();
    EXPECT_EQ(write_tensor_file(path("x.dat"), named_).error().message,
              "cannot write `" + path("x.dat") + "`: str cannot be stored in a .dat file");
}

}  // namespace

}  // namespace lemma::tensor
