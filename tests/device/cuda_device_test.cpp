// SPDX-License-Identifier: Apache-2.0
// The device of NVIDIA GPUs on a driver without a GPU (fake_cuda.cpp).
#include "device/cuda_device.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <vector>

namespace lemma::device {
namespace {

using runtime::DeviceAddress;
using runtime::DeviceQueue;

// A variable of the environment, for the lifetime of the object.
class Setting {
public:
    Setting(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
    ~Setting() { ::unsetenv(name_); }
    Setting(const Setting&) = delete;

private:
    const char* name_;
};

constexpr const char* kText =
    ".entry copy(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)";

class CudaDevice : public testing::Test {
protected:
    void SetUp() override {
        auto opened = open_cuda_device(0);
        ASSERT_TRUE(opened) << opened.error().message;
        device = std::move(*opened);
        queue = *device->make_queue();
    }
    // A kernel that copies floats from one buffer to another.
    const runtime::DeviceKernel* copier() const {
        const auto kernel = device->load({"copy", kText});
        EXPECT_TRUE(kernel) << kernel.error().message;
        return *kernel;
    }
    // All bytes there and back.
    void copy_around(size_t bytes) {
        std::vector<unsigned char> from(bytes), to(bytes);
        std::iota(from.begin(), from.end(), static_cast<unsigned char>(bytes));
        const auto size = static_cast<int64_t>(bytes);
        const auto memory = device->allocate(size);
        ASSERT_TRUE(memory);
        const auto want = from;
        ASSERT_TRUE(queue->upload(*memory, from.data(), size));
        std::ranges::fill(from, 0);  // the bytes may change
        ASSERT_TRUE(queue->download(to.data(), *memory, size));
        ASSERT_TRUE(queue->wait());
        EXPECT_EQ(to, want);
        device->free(*memory);
    }

    std::shared_ptr<runtime::Device> device;
    std::unique_ptr<DeviceQueue> queue;
};

TEST_F(CudaDevice, TellsItsNameAndPeaks) {
    EXPECT_EQ(device->name(), "Fake GPU");
    EXPECT_EQ(device->peaks().operations, 10 * 128 * 2 * 1e9);
    EXPECT_EQ(device->peaks().bytes, 2 * 1e9 * 256 / 8);
}

TEST_F(CudaDevice, CopiesThroughPinnedMemory) {
    for (const size_t bytes : {1, 7, 1 << 20, (9 << 20) + 3}) copy_around(bytes);
}

TEST_F(CudaDevice, CopiesWithoutPinnedMemory) {
    const Setting fails("FAKE_CUDA_FAIL", "cuMemHostAlloc=2");
    for (const size_t bytes : {1, 1 << 20, (9 << 20) + 3}) copy_around(bytes);
}

TEST_F(CudaDevice, ReplaysRecordedWork) {
    const auto a = *device->allocate(16), b = *device->allocate(16), c = *device->allocate(16);
    const auto* const kernel = copier();
    ASSERT_TRUE(queue->can_record());
    ASSERT_TRUE(queue->begin_recording());
    const DeviceAddress first[] = {a, b}, second[] = {b, c};
    ASSERT_TRUE(queue->launch({kernel, first, 0, 4, 4}));
    ASSERT_TRUE(queue->launch({kernel, second, 0, 4, 4}));
    auto graph = queue->end_recording();
    ASSERT_TRUE(graph) << graph.error().message;
    for (const float x : {1.5F, 2.5F}) {
        const float from[4] = {x, x, x, x};
        float to[4] = {};
        ASSERT_TRUE(queue->upload(a, from, 16));
        ASSERT_TRUE(queue->replay(**graph));
        ASSERT_TRUE(queue->download(to, c, 16));
        ASSERT_TRUE(queue->wait());
        EXPECT_EQ(to[3], x);
    }
    graph->reset();
    for (const DeviceAddress memory : {a, b, c}) device->free(memory);
}

TEST_F(CudaDevice, WorksAfterARecordingThatFailed) {
    const auto memory = *device->allocate(16);
    int64_t number = 7;
    ASSERT_TRUE(queue->begin_recording());
    (void)queue->upload(memory, &number, sizeof number);  // no work for a recording
    EXPECT_FALSE(queue->end_recording());
    ASSERT_TRUE(queue->upload(memory, &number, sizeof number));
    number = 0;
    ASSERT_TRUE(queue->download(&number, memory, sizeof number));
    ASSERT_TRUE(queue->wait());
    EXPECT_EQ(number, 7);
    device->free(memory);
}

TEST_F(CudaDevice, MeasuresWorkByMarks) {
    const auto memory = *device->allocate(64);
    const DeviceAddress buffers[] = {memory, memory};
    const auto* const kernel = copier();
    ASSERT_TRUE(queue->can_mark());
    ASSERT_TRUE(queue->mark(0));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue->launch({kernel, buffers, 0, 4, 4}));
    ASSERT_TRUE(queue->mark(1));
    ASSERT_TRUE(queue->wait());
    EXPECT_FLOAT_EQ(*queue->seconds(0, 1), 3e-3);
    device->free(memory);
}

TEST_F(CudaDevice, GivesGroupsMoreMemory) {
    const auto memory = *device->allocate(64);
    const DeviceAddress buffers[] = {memory, memory};
    const auto kernel = device->load({"copy", kText, 96 << 10});
    ASSERT_TRUE(kernel) << kernel.error().message;
    EXPECT_TRUE(queue->launch({*kernel, buffers, 0, 4, 4}));
    ASSERT_TRUE(queue->wait());
    const auto large = device->load({"copy", kText, 1 << 20});
    ASSERT_FALSE(large);
    EXPECT_NE(large.error().message.find("too little group memory"), std::string::npos);
    device->free(memory);
}

TEST_F(CudaDevice, CompilesTexts) {
    const auto code = device->compile(kText);
    ASSERT_TRUE(code) << code.error().message;
    EXPECT_TRUE(device->load({"copy", *code}));
    EXPECT_EQ(device->make(), "sm_90 12080");
}

// An address between vectors would be an error of the GPU that ends its work for the process.
TEST_F(CudaDevice, RefusesAddressesBetweenVectors) {
    const auto memory = *device->allocate(64);
    const auto kernel =
        device->load({.name = "copy", .code = kText, .group_memory = 0, .aligned = true});
    ASSERT_TRUE(kernel);
    const DeviceAddress whole[] = {memory, memory + 16}, odd[] = {memory, memory + 4};
    EXPECT_TRUE(queue->launch({*kernel, whole, 0, 4, 4}));
    EXPECT_FALSE(queue->launch({*kernel, odd, 0, 4, 4}));
    ASSERT_TRUE(queue->wait());
    device->free(memory);
}

TEST_F(CudaDevice, RefusesLaunchesThatAreTooLarge) {
    const auto memory = *device->allocate(64);
    const std::vector<DeviceAddress> two(2, memory), many(600, memory);
    const auto* const kernel = copier();
    const auto refused = [&](const DeviceQueue::Launch& launch) {
        const auto done = queue->launch(launch);
        return !done && done.error().message.contains("too large for the GPU");
    };
    constexpr int64_t kMost = INT32_MAX;
    EXPECT_TRUE(queue->launch({kernel, two, 0, kMost, 1}));
    EXPECT_TRUE(refused({kernel, two, 0, kMost + 1, 1}));
    EXPECT_TRUE(refused({kernel, two, 0, INT64_MAX, 1024}));
    EXPECT_TRUE(refused({kernel, two, -1, 4, 4}));
    EXPECT_TRUE(refused({kernel, two, INT64_MIN, INT64_MAX, 4}));
    EXPECT_TRUE(refused({kernel, two, 4, 4, 4}));
    EXPECT_TRUE(refused({kernel, two, 0, 4, 0}));
    EXPECT_TRUE(refused({kernel, two, 0, 4, 1025}));
    EXPECT_TRUE(refused({kernel, many, 0, 4, 4}));
    device->free(memory);
}

TEST_F(CudaDevice, TellsWhatFails) {
    const auto memory = *device->allocate(64);
    const DeviceAddress buffers[] = {memory, memory};
    const auto* const kernel = copier();
    char byte = 0;
    const auto message = [](const auto& done) { return done ? "" : done.error().message; };
    {
        const Setting few("FAKE_CUDA_MEMORY", "1000");
        EXPECT_EQ(message(device->allocate(5 << 20)),
                  "the GPU has no memory for 5 MiB: out of memory");
    }
    EXPECT_EQ(message(device->allocate(-1)), "memory of the GPU without a size");
    EXPECT_EQ(message(device->load({"copy", "no text"})),
              "the driver refuses a kernel: a text that is no PTX\nline 1: no");
    EXPECT_EQ(message(device->compile("no text")),
              "the driver refuses a kernel: a text that is no PTX\nline 1: no");
    EXPECT_EQ(message(device->load({"copy", ".entry other()"})),
              "a kernel is not in its module: error 500");
    const auto fails = [&](const char* how, const auto& call, const std::string& text) {
        const Setting failing("FAKE_CUDA_FAIL", how);
        EXPECT_EQ(message(call()), text) << how;
    };
    const char* const functions[] = {"cuLinkCreate_v2=2", "cuLinkComplete=2"};
    for (const char* const how : functions) {
        fails(
            how,
            [&] { return device->compile(kText); },
            "the driver refuses a kernel: out of memory");
    }
    fails(
        "cuLaunchKernel=719",
        [&] { return queue->launch({kernel, buffers, 0, 4, 4}); },
        "the GPU does not run a kernel: unspecified launch failure");
    fails(
        "cuStreamSynchronize=700",
        [&] { return queue->wait(); },
        "the GPU failed: an illegal memory access");
    fails(
        "cuMemcpyHtoDAsync_v2=719",
        [&] { return queue->upload(memory, &byte, 1); },
        "data cannot be copied to the GPU: unspecified launch failure");
    fails(
        "cuMemcpyDtoHAsync_v2=719",
        [&] { return queue->download(&byte, memory, 1); },
        "data cannot be copied from the GPU: unspecified launch failure");
    fails(
        "cuMemcpyDtoDAsync_v2=719",
        [&] { return queue->copy(memory, memory, 1); },
        "data cannot be copied on the GPU: unspecified launch failure");
    fails(
        "cuCtxSetCurrent=46",
        [&] { return queue->begin(); },
        "the GPU is not available: device busy or unavailable");
    fails(
        "cuStreamCreate=2",
        [&] { return device->make_queue(); },
        "the GPU takes no work: out of memory");
    fails(
        "cuStreamBeginCapture_v2=719",
        [&] { return queue->begin_recording(); },
        "the GPU records no work: unspecified launch failure");
    fails(
        "cuEventRecord=719",
        [&] { return queue->mark(0); },
        "the GPU measures no times: unspecified launch failure");
    device->free(memory);
}

TEST(CudaDevices, ThatCannotBeUsedAreErrors) {
    const auto message = [](int number) {
        const auto device = open_cuda_device(number);
        return device ? std::string() : device.error().message;
    };
    EXPECT_EQ(message(1), "there is no GPU `cuda:1`: this machine has 1");
    {
        const Setting none("FAKE_CUDA_GPUS", "0");
        EXPECT_EQ(message(0), "there is no GPU `cuda:0`: this machine has 0");
    }
    {
        const Setting old("FAKE_CUDA_CAPABILITY", "75");
        EXPECT_EQ(
            message(0),
            "the GPU `Fake GPU` is too old: it has compute capability 7.5, and 8.0 is needed");
    }
    for (const auto& [name, text] :
         {std::pair("cuDeviceGetCount", "the NVIDIA driver finds no GPU"),
          std::pair("cuDeviceGet", "the NVIDIA driver finds no GPU"),
          std::pair("cuDeviceGetName", "the GPU has no name"),
          std::pair("cuDeviceGetAttribute", "the GPU has no version"),
          std::pair("cuDevicePrimaryCtxRetain", "the GPU is not available"),
          std::pair("cuCtxSetCurrent", "the GPU is not available")}) {
        const std::string how = std::string(name) + "=46";
        const Setting failing("FAKE_CUDA_FAIL", how.c_str());
        EXPECT_EQ(message(0), std::string(text) + ": device busy or unavailable") << name;
    }
    EXPECT_EQ(message(0), "");
}

}  // namespace
}  // namespace lemma::device
