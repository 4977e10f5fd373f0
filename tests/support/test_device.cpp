// SPDX-License-Identifier: Apache-2.0
#include "support/test_device.h"

#include <algorithm>
#include <cstring>

#include "support/loop_evaluator.h"

namespace lemma::testing {

using runtime::DeviceAddress;

namespace {

constexpr DeviceAddress kVector = 16;  // bytes

}  // namespace

Result<const runtime::DeviceKernel*> TestDevice::add(const loop::Function& function) {
    if (std::string fault = loop::verify(function); !fault.empty()) {
        return std::unexpected(Error{std::move(fault)});
    }
    auto kernel = std::make_unique<Kernel>();
    kernel->function = function;
    kernels_.push_back(std::move(kernel));
    return kernels_.back().get();
}

// New memory has no zeros: nobody may rely on them.
Result<DeviceAddress> TestDevice::allocate(int64_t bytes) {
    constexpr DeviceAddress kApart = 1 << 12;
    const DeviceAddress at = next_;
    memory_[at].assign(static_cast<size_t>(bytes), std::byte{0x5A});
    next_ += static_cast<DeviceAddress>(bytes) / kApart * kApart + 2 * kApart;
    most_bytes_ = std::max(most_bytes_, this->bytes());
    return at;
}

Result<std::span<std::byte>> TestDevice::rest(DeviceAddress at) {
    auto found = memory_.upper_bound(at);
    if (found == memory_.begin()) return std::unexpected(Error{"an address of no memory"});
    --found;
    const size_t begin = at - found->first;
    if (begin > found->second.size()) return std::unexpected(Error{"an address behind memory"});
    return std::span(found->second).subspan(begin);
}

Result<std::span<std::byte>> TestDevice::part(DeviceAddress at, int64_t bytes) {
    LEMMA_TRY(const std::span<std::byte> all, rest(at));
    if (std::ssize(all) < bytes) return std::unexpected(Error{"a copy behind the end of memory"});
    return all.first(static_cast<size_t>(bytes));
}

int64_t TestDevice::bytes() const {
    int64_t sum = 0;
    for (const auto& [address, piece] : memory_) sum += std::ssize(piece);
    return sum;
}

// ---- Queues -------------------------------------------------------------------------------------

struct TestDevice::Graph final : runtime::DeviceGraph {
    struct Call {
        runtime::DeviceQueue::Launch launch;
        std::vector<DeviceAddress> buffers;
    };
    std::vector<Call> calls;
};

// All work is done at once, except for downloads, which wait.
class TestDevice::Queue final : public runtime::DeviceQueue {
public:
    explicit Queue(TestDevice& device) : device_(device) {}

    Result<void> upload(DeviceAddress to, const void* from, int64_t bytes) override {
        LEMMA_TRY(not_recording());
        LEMMA_TRY(const std::span<std::byte> there, device_.part(to, bytes));
        std::memcpy(there.data(), from, there.size());
        device_.uploaded_ += bytes;
        return {};
    }
    Result<void> download(void* to, DeviceAddress from, int64_t bytes) override {
        LEMMA_TRY(not_recording());
        LEMMA_TRY(const std::span<std::byte> there, device_.part(from, bytes));
        downloads_.push_back({to, {there.begin(), there.end()}});
        device_.downloaded_ += bytes;
        return {};
    }
    Result<void> copy(DeviceAddress to, DeviceAddress from, int64_t bytes) override {
        LEMMA_TRY(not_recording());
        LEMMA_TRY(const std::span<std::byte> target, device_.part(to, bytes));
        LEMMA_TRY(const std::span<std::byte> source, device_.part(from, bytes));
        std::memmove(target.data(), source.data(), source.size());
        return {};
    }
    Result<void> launch(const Launch& launch) override {
        if (!recorded_) return device_.launch(launch);
        recorded_->calls.push_back({launch, {launch.buffers.begin(), launch.buffers.end()}});
        return {};
    }
    Result<void> wait() override {
        LEMMA_TRY(not_recording());
        for (const Download& one : downloads_) {
            std::memcpy(one.to, one.bytes.data(), one.bytes.size());
        }
        downloads_.clear();
        return {};
    }
    bool can_record() const override { return true; }
    Result<void> begin_recording() override {
        LEMMA_TRY(not_recording());
        recorded_ = std::make_unique<Graph>();
        return {};
    }
    Result<std::unique_ptr<runtime::DeviceGraph>> end_recording() override {
        return std::move(recorded_);
    }
    Result<void> replay(const runtime::DeviceGraph& graph) override {
        LEMMA_TRY(not_recording());
        ++device_.replays_;
        for (const Graph::Call& call : static_cast<const Graph&>(graph).calls) {
            Launch launch = call.launch;
            launch.buffers = call.buffers;
            LEMMA_TRY(device_.launch(launch));
        }
        return {};
    }

private:
    struct Download {
        void* to;
        std::vector<std::byte> bytes;
    };
    Result<void> not_recording() const {
        if (!recorded_) return {};
        return std::unexpected(Error{"work that cannot be recorded"});
    }

    TestDevice& device_;
    std::vector<Download> downloads_;
    std::unique_ptr<Graph> recorded_;
};

Result<std::unique_ptr<runtime::DeviceQueue>> TestDevice::make_queue() {
    return std::make_unique<Queue>(*this);
}

// ---- Kernels ------------------------------------------------------------------------------------

Result<const runtime::DeviceKernel*> TestDevice::load(const KernelCode&) {
    return std::unexpected(Error{"a device for tests runs no code"});
}

// The evaluator has copies of the buffers; only the elements that change go back, because buffers
// lie in one piece of memory.
Result<void> TestDevice::launch(const runtime::DeviceQueue::Launch& launch) {
    const loop::Function& f = static_cast<const Kernel*>(launch.kernel)->function;
    const auto is_odd = [](DeviceAddress at) { return at % kVector != 0; };
    if (f.aligned && std::ranges::any_of(launch.buffers, is_odd)) {
        return std::unexpected(Error{"a kernel for whole vectors gets other memory"});
    }
    std::vector<tensor::Tensor> buffers;
    for (size_t i = 0; i < launch.buffers.size(); ++i) {
        LEMMA_TRY(const std::span<std::byte> from, rest(launch.buffers[i]));
        const int64_t size = tensor::dtype_size(f.buffers[i].dtype);
        LEMMA_TRY(tensor::Tensor copy,
                  tensor::Tensor::zeros(f.buffers[i].dtype, {std::ssize(from) / size}));
        std::memcpy(copy.bytes().data(), from.data(), copy.bytes().size());
        buffers.push_back(std::move(copy));
    }
    const std::vector<tensor::Tensor> before = buffers;
    const auto order = static_cast<uint64_t>(launches_++);
    LEMMA_TRY(evaluate_groups(f, {launch.begin, launch.end}, order, buffers));
    for (size_t i = 0; i < buffers.size(); ++i) {
        if (!f.buffers[i].written) continue;
        LEMMA_TRY(const std::span<std::byte> to, rest(launch.buffers[i]));
        for (size_t at = 0; at < buffers[i].bytes().size(); ++at) {
            const std::byte now = buffers[i].bytes()[at];
            if (now != before[i].bytes()[at]) to[at] = now;
        }
    }
    return {};
}

}  // namespace lemma::testing
