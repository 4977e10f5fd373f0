// SPDX-License-Identifier: Apache-2.0
// tests/support/test_device.h — a device without hardware: kernels run in the evaluator of the loop
// IR, which finds accesses out of bounds and items that depend on their order. Its memory is not
// that of the program, so what was not copied is not there.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "loop/ir/node.h"
#include "runtime/device.h"

namespace lemma::testing {

class TestDevice final : public runtime::Device {
public:
    Result<const runtime::DeviceKernel*> add(const loop::Function& function);
    int64_t launches() const { return launches_; }
    int64_t replays() const { return replays_; }
    size_t pieces() const { return memory_.size(); }  // of memory that are not freed yet
    int64_t bytes() const;                            // of these
    int64_t most_bytes() const { return most_bytes_; }
    int64_t uploaded() const { return uploaded_; }
    int64_t downloaded() const { return downloaded_; }

    std::string name() const override { return "a device for tests"; }
    Result<runtime::DeviceAddress> allocate(int64_t bytes) override;
    void free(runtime::DeviceAddress memory) override { memory_.erase(memory); }
    Result<std::string> compile(const std::string& text) override { return text; }
    Result<const runtime::DeviceKernel*> load(const KernelCode& kernel) override;
    Result<std::unique_ptr<runtime::DeviceQueue>> make_queue() override;

private:
    struct Kernel final : runtime::DeviceKernel {
        loop::Function function;
    };
    class Queue;
    struct Graph;
    // From the address to the end of its piece.
    Result<std::span<std::byte>> rest(runtime::DeviceAddress at);
    Result<std::span<std::byte>> part(runtime::DeviceAddress at, int64_t bytes);
    Result<void> launch(const runtime::DeviceQueue::Launch& launch);

    std::map<runtime::DeviceAddress, std::vector<std::byte>> memory_;
    runtime::DeviceAddress next_ = 4096;
    std::vector<std::unique_ptr<Kernel>> kernels_;
    int64_t launches_ = 0, replays_ = 0;
    int64_t uploaded_ = 0, downloaded_ = 0;
    int64_t most_bytes_ = 0;
};

}  // namespace lemma::testing
