// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace lemma::runtime {
namespace {

using Side = NewerBytes::Side;

std::string text(const NewerBytes& bytes, Side side, int64_t begin, int64_t end) {
    std::string result;
    for (const auto& range : bytes.find(begin, end, side)) {
        result += std::to_string(range.begin) + "-" + std::to_string(range.end) + " ";
    }
    return result;
}

TEST(NewerBytes, KnowsTheSideOfEachByte) {
    NewerBytes bytes(100, Side::Both);
    EXPECT_EQ(text(bytes, Side::Host, 0, 100), "");
    bytes.set(10, 20, Side::Host);
    bytes.set(30, 40, Side::Host);
    bytes.set(15, 35, Side::Device);
    EXPECT_EQ(text(bytes, Side::Host, 0, 100), "10-15 35-40 ");
    EXPECT_EQ(text(bytes, Side::Device, 0, 100), "15-35 ");
    EXPECT_EQ(text(bytes, Side::Device, 20, 30), "20-30 ");
    bytes.set(12, 90, Side::Host);
    EXPECT_EQ(text(bytes, Side::Host, 0, 100), "10-90 ");
    bytes.set(0, 100, Side::Both);
    EXPECT_EQ(text(bytes, Side::Host, 0, 100), "");
}

// Counts copies; kernels are functions on its memory.
struct CountingDevice final : Device {
    struct Kernel final : DeviceKernel {
        std::function<void(std::span<const DeviceAddress>)> run;
    };

    std::string name() const override { return "counting"; }
    Result<DeviceAddress> allocate(int64_t bytes) override {
        ++pieces;
        return reinterpret_cast<DeviceAddress>(std::calloc(1, static_cast<size_t>(bytes)));
    }
    void free(DeviceAddress memory) override {
        --pieces;
        std::free(reinterpret_cast<void*>(memory));
    }
    Result<void> upload(DeviceAddress to, const void* from, int64_t bytes) override {
        if (broken) return std::unexpected(Error{"broken"});
        uploaded += bytes;
        std::memcpy(reinterpret_cast<void*>(to), from, static_cast<size_t>(bytes));
        return {};
    }
    Result<void> download(void* to, DeviceAddress from, int64_t bytes) override {
        if (broken) return std::unexpected(Error{"broken"});
        downloaded += bytes;
        std::memcpy(to, reinterpret_cast<const void*>(from), static_cast<size_t>(bytes));
        return {};
    }
    Result<void> copy(DeviceAddress to, DeviceAddress from, int64_t bytes) override {
        copied += bytes;
        std::memcpy(reinterpret_cast<void*>(to),
                    reinterpret_cast<const void*>(from),
                    static_cast<size_t>(bytes));
        return {};
    }
    Result<const DeviceKernel*> load(const std::string&, const std::string&) override {
        return std::unexpected(Error{"no code"});
    }
    Result<void> launch(const Launch& launch) override {
        static_cast<const Kernel*>(launch.kernel)->run(launch.buffers);
        return {};
    }
    Result<void> wait() override { return {}; }

    int64_t uploaded = 0, downloaded = 0, copied = 0, pieces = 0;
    bool broken = false;
};

class DeviceMemoryTest : public testing::Test {
protected:
    DeviceMemoryTest() {
        memory.add(a.data(), sizeof a);
        memory.add(b.data(), sizeof b);
        doubles.run = [](std::span<const DeviceAddress> buffers) {
            const auto* const from = reinterpret_cast<const int*>(buffers[0]);
            auto* const to = reinterpret_cast<int*>(buffers[1]);
            for (int i = 0; i < 4; ++i) to[i] = 2 * from[i];
        };
        fails.run = [](std::span<const DeviceAddress> buffers) {
            *reinterpret_cast<int64_t*>(buffers[0]) = 1;
        };
        call.device = &doubles;
        call.buffers = {0, 1};
        call.uses = {{16, false}, {16, true}};
        pieces = {a.data(), b.data()};
    }

    std::shared_ptr<CountingDevice> device = std::make_shared<CountingDevice>();
    std::array<int, 8> a = {1, 2, 3, 4, 5, 6, 7, 8}, b = {};
    std::vector<void*> pieces;
    CountingDevice::Kernel doubles, fails;
    KernelCall call;
    DeviceMemory memory{device};
};

TEST_F(DeviceMemoryTest, CopiesWhatTheOtherSideNeeds) {
    ASSERT_TRUE(memory.launch(call, pieces, 0, 4));
    EXPECT_EQ(device->uploaded, 32);
    EXPECT_EQ(b[0], 0);  // not here yet
    memory.read_by_host(&b[0], 4);
    EXPECT_EQ(b[0], 2);
    EXPECT_EQ(b[1], 0);
    EXPECT_EQ(device->downloaded, 4);
    memory.read_by_host(b.data(), 0);
    EXPECT_EQ(b[3], 8);
    EXPECT_EQ(device->downloaded, 16);
    // Nothing changed: the second launch copies nothing.
    ASSERT_TRUE(memory.launch(call, pieces, 0, 4));
    EXPECT_EQ(device->uploaded, 32);
    memory.written_by_host(&a[1], 4);
    a[1] = 10;
    ASSERT_TRUE(memory.launch(call, pieces, 0, 4));
    EXPECT_EQ(device->uploaded, 36);
    memory.read_by_host(b.data(), 0);
    EXPECT_EQ(b[1], 20);
}

TEST_F(DeviceMemoryTest, CopiesOnTheDeviceWhatIsNewerThere) {
    ASSERT_TRUE(memory.launch(call, pieces, 0, 4));
    memory.copy(&a[4], &b[0], 16);
    EXPECT_EQ(device->copied, 16);
    memory.read_by_host(a.data(), 0);
    EXPECT_EQ(a[7], 8);
    memory.copy(&b[4], &a[4], 8);  // both have it: the processor copies
    EXPECT_EQ(device->copied, 16);
    EXPECT_EQ(b[5], 4);
    ASSERT_TRUE(memory.launch(call, pieces, 0, 4));
}

TEST_F(DeviceMemoryTest, LendsMemoryOfOthers) {
    const std::array<int, 4> other = {9, 9, 9, 9};
    pieces[0] = const_cast<int*>(other.data());
    ASSERT_TRUE(memory.launch(call, pieces, 0, 4));
    memory.read_by_host(b.data(), 0);
    EXPECT_EQ(b[3], 18);
    EXPECT_EQ(device->pieces, 1);
}

TEST_F(DeviceMemoryTest, TellsFaultsAtTheEnd) {
    call.device = &fails;
    call.buffers = {kFlag};
    call.uses = {{0, true}};
    ASSERT_TRUE(memory.launch(call, pieces, 0, 4));
    const auto failed = memory.finish();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "an index is outside of its tensor");
    EXPECT_TRUE(memory.finish());
    call.device = &doubles;
    call.buffers = {0, 1};
    call.uses = {{16, false}, {16, true}};
    ASSERT_TRUE(memory.launch(call, pieces, 0, 4));
    device->broken = true;
    memory.read_by_host(b.data(), 0);
    EXPECT_FALSE(memory.finish());
}

}  // namespace
}  // namespace lemma::runtime
