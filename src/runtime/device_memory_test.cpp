// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>

#include "runtime/executable.h"

namespace lemma::runtime {
namespace {

// Counts copies; kernels are functions on its memory. A recording keeps launches.
struct CountingDevice final : Device {
    struct Kernel final : DeviceKernel {
        std::function<void(std::span<const DeviceAddress>)> run;
    };
    struct Graph final : DeviceGraph {
        std::vector<std::pair<const Kernel*, std::vector<DeviceAddress>>> launches;
    };
    struct Queue final : DeviceQueue {
        explicit Queue(CountingDevice& of) : device(of) {}
        Result<void> upload(DeviceAddress to, const void* from, int64_t bytes) override {
            if (device.broken) return std::unexpected(Error{"broken"});
            EXPECT_FALSE(recorded);
            device.uploaded += bytes;
            std::memcpy(reinterpret_cast<void*>(to), from, static_cast<size_t>(bytes));
            return {};
        }
        Result<void> download(void* to, DeviceAddress from, int64_t bytes) override {
            if (device.broken) return std::unexpected(Error{"broken"});
            EXPECT_FALSE(recorded);
            device.downloaded += bytes;
            std::memcpy(to, reinterpret_cast<const void*>(from), static_cast<size_t>(bytes));
            return {};
        }
        Result<void> copy(DeviceAddress to, DeviceAddress from, int64_t bytes) override {
            device.copied += bytes;
            std::memcpy(reinterpret_cast<void*>(to),
                        reinterpret_cast<const void*>(from),
                        static_cast<size_t>(bytes));
            return {};
        }
        Result<void> launch(const Launch& launch) override {
            const auto* const kernel = static_cast<const Kernel*>(launch.kernel);
            if (recorded) {
                recorded->launches.emplace_back(
                    kernel,
                    std::vector<DeviceAddress>(launch.buffers.begin(), launch.buffers.end()));
                return {};
            }
            ++device.launches;
            kernel->run(launch.buffers);
            return {};
        }
        Result<void> wait() override {
            EXPECT_FALSE(recorded);
            return {};
        }
        bool can_record() const override { return device.records; }
        Result<void> begin_recording() override {
            recorded = std::make_unique<Graph>();
            return {};
        }
        Result<std::unique_ptr<DeviceGraph>> end_recording() override {
            ++device.recordings;
            return std::move(recorded);
        }
        Result<void> replay(const DeviceGraph& graph) override {
            ++device.replays;
            for (const auto& [kernel, buffers] : static_cast<const Graph&>(graph).launches) {
                kernel->run(buffers);
            }
            return {};
        }

        CountingDevice& device;
        std::unique_ptr<Graph> recorded;
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
    Result<std::string> compile(const std::string& text) override { return text; }
    Result<const DeviceKernel*> load(const KernelCode&) override {
        return std::unexpected(Error{"no code"});
    }
    Result<std::unique_ptr<DeviceQueue>> make_queue() override {
        return std::make_unique<Queue>(*this);
    }

    int64_t uploaded = 0, downloaded = 0, copied = 0, pieces = 0;
    int launches = 0, recordings = 0, replays = 0;
    bool broken = false, records = true;
};

class DeviceMemoryTest : public testing::Test {
protected:
    DeviceMemoryTest() : owner(*DeviceMemory::create(device)) {
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
    std::unique_ptr<DeviceMemory> owner;
    DeviceMemory& memory = *owner;
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
    EXPECT_FALSE(memory.failed());
    device->broken = true;
    memory.read_by_host(b.data(), 0);
    EXPECT_FALSE(memory.finish());
    EXPECT_TRUE(memory.failed());
}

TEST_F(DeviceMemoryTest, GivesAndTakesBytesOfTheCaller) {
    const std::array<int, 4> given = {3, 4, 5, 6};
    std::array<int, 4> taken = {};
    ASSERT_TRUE(memory.give(a.data(), given.data(), 16));
    EXPECT_EQ(a[0], 3);  // the device has no memory for it yet
    ASSERT_TRUE(memory.launch(call, pieces, 0, 4));
    a[0] = 77;
    ASSERT_TRUE(memory.give(a.data(), given.data(), 16));
    EXPECT_EQ(a[0], 77);  // only there
    EXPECT_EQ(device->uploaded, 48);
    ASSERT_TRUE(memory.launch(call, pieces, 0, 4));
    EXPECT_EQ(device->uploaded, 48);
    ASSERT_TRUE(memory.take(taken.data(), b.data(), 16));
    ASSERT_TRUE(memory.finish());
    EXPECT_EQ(taken[3], 12);
    EXPECT_EQ(b[3], 0);  // without a copy here
    memory.written_by_host(&b[0], 4);
    b[0] = 1;
    ASSERT_TRUE(memory.take(taken.data(), b.data(), 16));
    EXPECT_EQ(taken[0], 1);
    EXPECT_EQ(taken[3], 12);
}

TEST_F(DeviceMemoryTest, SharesConstantsWithOthers) {
    ASSERT_TRUE(memory.launch(call, pieces, 0, 4));  // `b` is newer there
    const auto shared = memory.share(b.data());
    EXPECT_EQ(device->uploaded, 32);
    {
        const auto other = *DeviceMemory::create(device);
        std::array<int, 4> result = {};
        other->add(shared);
        other->add(result.data(), sizeof result);
        const std::vector<void*> own = {b.data(), result.data()};
        ASSERT_TRUE(other->launch(call, own, 0, 4));
        EXPECT_EQ(device->uploaded, 32 + 16 + 16);  // the rest of `b`, and the result
        EXPECT_EQ(device->pieces, 3);
        EXPECT_EQ(other->bytes(), 32 + 16);
        other->read_by_host(result.data(), 0);
        EXPECT_EQ(result[1], 8);
        EXPECT_EQ(b[1], 0);
        other->read_by_host(b.data(), 16);
        EXPECT_EQ(b[1], 4);
    }
    EXPECT_EQ(device->pieces, 2);
}

// ---- Segments -----------------------------------------------------------------------------------

// y = 4 x, in two steps.
class DeviceSegmentTest : public testing::Test {
protected:
    DeviceSegmentTest() {
        EXPECT_TRUE(run.use_device(device));
        for (size_t& piece : pieces) piece = *run.add_memory(16);
        doubles.run = [](std::span<const DeviceAddress> buffers) {
            const auto* const from = reinterpret_cast<const int*>(buffers[0]);
            auto* const to = reinterpret_cast<int*>(buffers[1]);
            for (int i = 0; i < 4; ++i) to[i] = 2 * from[i];
            if (from[0] < 0) *reinterpret_cast<int64_t*>(buffers[2]) = 1;
        };
        for (const size_t i : {0, 1}) {
            KernelCall call;
            call.device = &doubles;
            call.buffers = {pieces[i], pieces[i + 1], kFlag};
            call.uses = {{16, false}, {16, true}, {0, true}};
            steps.emplace_back().kind = std::move(call);
        }
    }
    int result_of(int x) {
        EXPECT_TRUE(run.give(pieces[0], std::array{x, 0, 0, 0}.data(), 16));
        EXPECT_TRUE(run.run(steps));
        std::array<int, 4> y = {};
        EXPECT_TRUE(run.take(y.data(), pieces[2], 16));
        return y[0];
    }

    std::shared_ptr<CountingDevice> device = std::make_shared<CountingDevice>();
    CountingDevice::Kernel doubles;
    Executable run{1};
    size_t pieces[3] = {};
    Steps steps;
};

TEST_F(DeviceSegmentTest, IsRecordedInTheSecondRun) {
    for (const int x : {1, 2, 3, 4}) EXPECT_EQ(result_of(x), 4 * x);
    EXPECT_EQ(device->launches, 2);
    EXPECT_EQ(device->recordings, 1);
    EXPECT_EQ(device->replays, 3);
    // The processor writes, and the recording reads it.
    *static_cast<int*>(run.write(pieces[0], 16)) = 9;
    ASSERT_TRUE(run.run(steps));
    EXPECT_EQ(*static_cast<const int*>(run.read(pieces[2], 16)), 36);
    EXPECT_EQ(device->replays, 4);
}

TEST_F(DeviceSegmentTest, IsRecordedAgainInOtherMemory) {
    for (const int x : {1, 2, 3}) result_of(x);
    run.release(pieces[1]);
    ASSERT_TRUE(run.give_memory(pieces[1], 16));
    for (const int x : {4, 5, 6}) EXPECT_EQ(result_of(x), 4 * x);
    EXPECT_EQ(device->recordings, 2);
}

TEST_F(DeviceSegmentTest, ReportsAnIndexOutside) {
    for (const int x : {1, 2, 3}) result_of(x);
    ASSERT_TRUE(run.give(pieces[0], std::array{-1, 0, 0, 0}.data(), 16));
    const auto failed = run.run(steps);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "an index is outside of its tensor");
    EXPECT_FALSE(run.device_failed());
    EXPECT_EQ(result_of(5), 20);
}

TEST_F(DeviceSegmentTest, RunsPlainWithoutRecordings) {
    device->records = false;
    for (const int x : {1, 2, 3}) EXPECT_EQ(result_of(x), 4 * x);
    EXPECT_EQ(device->launches, 6);
    EXPECT_EQ(device->replays, 0);
}

}  // namespace
}  // namespace lemma::runtime
