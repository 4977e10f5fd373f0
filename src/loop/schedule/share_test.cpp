// SPDX-License-Identifier: Apache-2.0
#include "loop/schedule/share.h"

#include <gtest/gtest.h>

namespace lemma::loop {
namespace {

// Copies rows of `extent` elements from where `begin` is.
ScheduledKernel copy_rows(int64_t extent, int64_t begin, int64_t divisor = 4) {
    ScheduledKernel kernel;
    Function& f = kernel.function;
    Builder build(f);
    f.item = build.var("item");
    f.items = 8;
    const BufferId from = build.buffer("from", tensor::DType::F32, false);
    const BufferId to = build.buffer("to", tensor::DType::F32, true);
    const VarId row = build.var("row");
    const VarId column = build.var("column");
    f.body.push_back(
        {Bind{row, build.make(Op::Div, {build.index(f.item), build.integer(divisor)})}});
    for (const int64_t half : {0, 1}) {
        Address read;
        read.offset = begin + half * extent;
        read.add(row, 2 * extent);
        read.add(column, 1);
        For loop{column, build.integer(0), build.integer(extent), 1, {}};
        loop.body.push_back({StoreStmt{to, read, build.load(from, read), {}}});
        f.body.push_back({std::move(loop)});
        build.stored();
    }
    kernel.arguments = {make_id<StorageId>(0), make_id<StorageId>(1)};
    return kernel;
}

std::vector<std::string> texts(const std::vector<ScheduledKernel>& kernels) {
    std::vector<std::string> result;
    std::vector<std::string> bytes;
    for (const ScheduledKernel& kernel : kernels) {
        EXPECT_EQ(verify(kernel.function), "");
        // The text without its first line, which has the items.
        const std::string text = print(kernel.function);
        result.push_back(text.substr(text.find('\n')));
        bytes.push_back(code_bytes(kernel.function));
    }
    for (size_t i = 0; i < result.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
            EXPECT_EQ(result[i] == result[j], bytes[i] == bytes[j]) << result[i] << result[j];
        }
    }
    return result;
}

void share(std::vector<ScheduledKernel>& kernels, bool once) {
    std::vector<SharedKernel> shared;
    for (ScheduledKernel& kernel : kernels) shared.push_back({&kernel, once});
    share_code(shared);
}

// Code for whole vectors must not serve memory that begins elsewhere.
TEST(Share, AlignedKernelsHaveCodeOfTheirOwn) {
    ScheduledKernel plain = copy_rows(10, 0), aligned = copy_rows(10, 0);
    EXPECT_EQ(code_bytes(plain.function), code_bytes(aligned.function));
    aligned.function.aligned = true;
    EXPECT_NE(code_bytes(plain.function), code_bytes(aligned.function));
}

TEST(Share, CallsMoveBuffersToTheirFirstElement) {
    std::vector<ScheduledKernel> kernels = {copy_rows(10, 0), copy_rows(10, 30)};
    share(kernels, false);
    const auto text = texts(kernels);
    EXPECT_EQ(text[0], text[1]);
    EXPECT_TRUE(kernels[0].offsets.empty());
    EXPECT_EQ(kernels[1].offsets, (std::vector<int64_t>{120, 120}));
    EXPECT_TRUE(kernels[1].numbers.empty());
}

TEST(Share, FixedStoragesStay) {
    ScheduledKernel kernel = copy_rows(10, 30);
    const SharedKernel shared[] = {{&kernel, false}};
    share_code(shared, {kernel.arguments[1]});
    EXPECT_EQ(kernel.offsets, (std::vector<int64_t>{120, 0}));
    EXPECT_EQ(verify(kernel.function), "");
}

TEST(Share, ExtentsAndStridesBecomeArguments) {
    std::vector<ScheduledKernel> kernels = {copy_rows(10, 0), copy_rows(20, 5)};
    share(kernels, true);
    const auto text = texts(kernels);
    EXPECT_EQ(text[0], text[1]);
    EXPECT_EQ(kernels[0].numbers, (std::vector<int64_t>{10, 20}));  // extent and stride
    EXPECT_EQ(kernels[1].numbers, (std::vector<int64_t>{20, 40}));
    EXPECT_EQ(kernels[0].function.buffers.size(), 3U);
}

TEST(Share, KernelsOfEveryRunShareIfThereAreMany) {
    std::vector<ScheduledKernel> few = {copy_rows(10, 0), copy_rows(20, 0), copy_rows(10, 5)};
    share(few, false);
    EXPECT_TRUE(few[0].numbers.empty());
    EXPECT_NE(texts(few)[0], texts(few)[1]);
    std::vector<ScheduledKernel> many;
    for (const int64_t extent : {10, 20, 30, 40}) many.push_back(copy_rows(extent, 0));
    share(many, false);
    const auto text = texts(many);
    for (const std::string& one : text) EXPECT_EQ(one, text[0]);
}

// A division by an argument is slow, and kernels with a narrower form have no free registers.
TEST(Share, SomeNumbersStay) {
    std::vector<ScheduledKernel> kernels;
    for (const int64_t divisor : {2, 4, 8, 16}) kernels.push_back(copy_rows(10, 0, divisor));
    share(kernels, false);
    EXPECT_TRUE(kernels[0].numbers.empty());
    for (ScheduledKernel& kernel : kernels) {
        kernel.narrower = [](int n) { return std::optional(copy_rows(10, 100 * n)); };
    }
    share(kernels, true);
    EXPECT_TRUE(kernels[0].numbers.empty());
    const auto narrower = kernels[0].narrower(1);
    ASSERT_TRUE(narrower);
    EXPECT_EQ(narrower->offsets, (std::vector<int64_t>{400, 400}));
    kernels = {copy_rows(10, 0, 2), copy_rows(10, 0, 4)};
    share(kernels, true);
    EXPECT_EQ(kernels[1].numbers, std::vector<int64_t>{4});
}

}  // namespace
}  // namespace lemma::loop
