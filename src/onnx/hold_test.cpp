// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "onnx/import.h"
#include "onnx/read.h"
#include "onnx/test_model.h"

namespace lemma::onnx {
namespace {

namespace fs = std::filesystem;

std::string raw_tensor(const std::string& name, size_t count, char byte) {
    test::WireWriter message;
    message.put_int(1, static_cast<int64_t>(count));
    message.put_int(2, 1);
    message.put_bytes(8, name);
    message.put_bytes(9, std::string(4 * count, byte));
    return message.take();
}

class HoldModel : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "lemma-hold-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        path_ = (folder_ / "model.onnx").string();
        const std::string bytes =
            test::model_bytes({.inputs = {{"x", {kCount}}},
                               .outputs = {{"y", {kCount}}},
                               .nodes = {{"Add", {"x", "a"}, {"s"}}, {"Add", {"s", "b"}, {"y"}}},
                               .initializers = {raw_tensor("a", kCount, 1),
                                                test::floats_tensor("c", {3}, {1, 2, 3}),
                                                raw_tensor("b", kCount, 2)}});
        ASSERT_TRUE(tensor::write_file(path_, bytes));
    }
    void TearDown() override { fs::remove_all(folder_); }
    Result<Model> load() const {
        LEMMA_TRY(tensor::SharedBytes bytes, tensor::map_file(path_));
        LEMMA_TRY(hold_model(bytes));
        return read_model(std::move(bytes));
    }

    static constexpr int64_t kCount = 1'000'000;
    fs::path folder_;
    std::string path_;
};

TEST_F(HoldModel, KeepsAllButTheElementsOfLargeTensors) {
    const auto model = load();
    ASSERT_TRUE(model) << model.error().message;
    const auto& data = model->graphs[model->main].initializers;
    ASSERT_EQ(data.size(), 3U);
    const auto first = decode_tensor(data[0], {}, model->bytes);
    ASSERT_TRUE(first) << first.error().message;
    fs::resize_file(path_, 0);
    EXPECT_EQ(model->graphs[model->main].nodes[1].inputs[1], "b");
    EXPECT_EQ(decode_tensor(data[1], {})->real(2), 3);
    EXPECT_EQ(first->bytes()[4 * kCount - 1], std::byte{1});  // it was held before
    const auto second = decode_tensor(data[2], {}, model->bytes);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().message,
              "cannot read `" + path_ + "`: it became shorter while it was used");
}

TEST_F(HoldModel, NoticesAFileThatBecomesShorterBeforeItIsRead) {
    const auto bytes = tensor::map_file(path_);
    ASSERT_TRUE(bytes);
    fs::resize_file(path_, fs::file_size(path_) / 2);
    const auto held = hold_model(*bytes);
    ASSERT_FALSE(held);
    EXPECT_EQ(held.error().message,
              "cannot read `" + path_ + "`: it became shorter while it was used");
}

// The reader reports the problem.
TEST_F(HoldModel, TakesBytesThatAreNoModel) {
    for (const std::string& bytes : {std::string(2 << 20, '\xFF'),
                                     std::string(2 << 20, '\0'),
                                     "\x3A\xFF\xFF\x7F" + std::string(2 << 20, 'x')}) {
        ASSERT_TRUE(tensor::write_file(path_, bytes));
        const auto mapped = tensor::map_file(path_);
        ASSERT_TRUE(mapped);
        EXPECT_TRUE(hold_model(*mapped));
        EXPECT_FALSE(read_model(*mapped));
    }
}

}  // namespace
}  // namespace lemma::onnx
