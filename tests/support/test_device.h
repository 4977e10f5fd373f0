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
    size_t pieces() const { return memory_.size(); }  // of memory that are not freed yet

    std::string name() const override { return "a device for tests"; }
    Result<runtime::DeviceAddress> allocate(int64_t bytes) override;
    void free(runtime::DeviceAddress memory) override { memory_.erase(memory); }
    Result<void> upload(runtime::DeviceAddress to, const void* from, int64_t bytes) override;
    Result<void> download(void* to, runtime::DeviceAddress from, int64_t bytes) override;
    Result<void> copy(runtime::DeviceAddress to,
                      runtime::DeviceAddress from,
                      int64_t bytes) override;
    Result<const runtime::DeviceKernel*> load(const std::string& text,
                                              const std::string& name) override;
    Result<void> launch(const Launch& launch) override;
    Result<void> wait() override { return {}; }

private:
    struct Kernel final : runtime::DeviceKernel {
        loop::Function function;
    };
    // From the address to the end of its piece.
    Result<std::span<std::byte>> rest(runtime::DeviceAddress at);
    Result<std::span<std::byte>> part(runtime::DeviceAddress at, int64_t bytes);

    std::map<runtime::DeviceAddress, std::vector<std::byte>> memory_;
    runtime::DeviceAddress next_ = 4096;
    std::vector<std::unique_ptr<Kernel>> kernels_;
    int64_t launches_ = 0;
};

}  // namespace lemma::testing
