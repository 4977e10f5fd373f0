// SPDX-License-Identifier: Apache-2.0
#include "ir/program/display_name.h"

#include <gtest/gtest.h>

namespace lemma::ir {
namespace {

TEST(DisplayName, IsTheNameOfTheModelsFormat) {
    EXPECT_EQ(display_name("onnx.activation.Relu"), "Relu");
    EXPECT_EQ(display_name("onnx.com.microsoft.quantized.MatMulNBits"),
              "com.microsoft.MatMulNBits");
    EXPECT_EQ(display_name("onnx.ml.Scaler"), "ai.onnx.ml.Scaler");
    EXPECT_EQ(display_name("nnef1.filter.conv"), "conv");
}

TEST(DisplayName, LeavesOutTheFormOfADefinition) {
    EXPECT_EQ(display_name("onnx.indexing.TopK_int"), "TopK");
    EXPECT_EQ(display_name("onnx.activation.Softmax_12"), "Softmax");
    EXPECT_EQ(display_name("onnx.arithmetic.max_of_two"), "Max");
}

TEST(DisplayName, IsTheFullNameOfOtherOperators) {
    for (const char* name : {"nn.conv",
                             "loop",
                             "Main",
                             "",
                             "onnx.",
                             "onnx.linear._matmul",
                             "onnx.attention.split_heads",
                             "nnef1.filter._padded"}) {
        EXPECT_EQ(display_name(name), name);
    }
}

}  // namespace
}  // namespace lemma::ir
