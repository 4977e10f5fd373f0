// SPDX-License-Identifier: Apache-2.0
#include "onnx/external.h"

#include <gtest/gtest.h>

#include "onnx/import.h"
#include "onnx/read.h"
#include "onnx/test_model.h"
#include "onnx/write.h"
#include "tensor/files/mapped_file.h"

namespace lemma::onnx {
namespace {

Model model_with(const std::vector<std::string>& initializers) {
    const test::TestGraph graph{.inputs = {{"x", {3}}},
                                .outputs = {{"y", {3}}},
                                .nodes = {{"Relu", {"x"}, {"y"}}},
                                .initializers = initializers};
    auto model = read_model(tensor::share(test::model_bytes(graph)));
    EXPECT_TRUE(model.has_value());
    return std::move(*model);
}

// 1,200 bytes.
tensor::Tensor ramp(int64_t first) {
    auto tensor = tensor::Tensor::zeros(tensor::DType::F32, {300});
    EXPECT_TRUE(tensor.has_value());
    for (int64_t i = 0; i < 300; ++i) tensor->set_real(i, static_cast<double>(first + i));
    return std::move(*tensor);
}

TEST(External, LargeTensorsMoveOutAndComeBack) {
    Model model = model_with({test::ints_tensor("shape", {2}, {3, 4})});
    Graph& graph = model.graphs[model.main];
    graph.initializers.push_back(add_tensor({"a", ramp(0)}, model));
    graph.initializers.push_back(add_tensor({"b", ramp(1000)}, model));
    EXPECT_GT(tensor_bytes(model), 2400);
    const auto parts = move_out("net.onnx.data", model);
    EXPECT_LT(tensor_bytes(model), 300);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0].begin, 0);
    EXPECT_EQ(parts[1].begin, 4096);  // a page boundary
    EXPECT_EQ(parts[1].bytes.size(), 1200u);

    const auto again = read_model(tensor::share(write_model(model)));
    ASSERT_TRUE(again.has_value());
    const auto& initializers = again->graphs[again->main].initializers;
    ASSERT_EQ(initializers.size(), 3u);
    EXPECT_FALSE(initializers[0].proto.external);
    ASSERT_TRUE(initializers[2].proto.external);
    EXPECT_EQ(initializers[2].proto.external->location, "net.onnx.data");
    const auto read = [&](const tensor::ExternalData& where) -> Result<tensor::SharedBytes> {
        EXPECT_EQ(where.offset, 4096);
        EXPECT_EQ(where.length, 1200);
        return tensor::share(std::string(parts[1].bytes));
    };
    const auto b = decode_tensor(initializers[2], read);
    ASSERT_TRUE(b.has_value());
    EXPECT_EQ(b->shape(), tensor::Shape{300});
    EXPECT_EQ(b->real(299), 1299.0);
}

TEST(External, WhatIsElsewhereStaysThere) {
    Model model =
        model_with({test::external_tensor("w", {300}, {.location = "own.bin", .length = "1200"})});
    EXPECT_TRUE(move_out("net.onnx.data", model).empty());
    EXPECT_EQ(model.graphs[model.main].initializers[0].proto.external->location, "own.bin");
}

}  // namespace
}  // namespace lemma::onnx
