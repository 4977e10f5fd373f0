// SPDX-License-Identifier: Apache-2.0
// runtime/device_memory.h — memory that the processor and a device both have. Of each byte it is
// known which of the two is newer, and only those that the other side needs are copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/control.h"
#include "runtime/device.h"

namespace lemma::runtime {

// The side whose bytes are newer, in order of their offsets.
class NewerBytes {
public:
    enum class Side : uint8_t { Both, Host, Device };

    explicit NewerBytes(int64_t bytes, Side side = Side::Host) : bytes_(bytes), from_{{0, side}} {}

    void set(int64_t begin, int64_t end, Side side);
    struct Range {
        int64_t begin, end;
    };
    // Those of the side in the range, in order.
    std::vector<Range> find(int64_t begin, int64_t end, Side side) const;

private:
    void cut(int64_t at);

    int64_t bytes_;
    std::map<int64_t, Side> from_;  // up to the next one
};

class DeviceMemory {
public:
    explicit DeviceMemory(std::shared_ptr<Device> device) : device_(std::move(device)) {}
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    // Memory of the processor that kernels use. The device gets a copy when a kernel needs it.
    void add(void* host, int64_t bytes);
    void remove(void* host);

    // Before the processor reads or writes bytes; without a number, those up to the end of the
    // memory. What fails is told by `finish`.
    void read_by_host(const void* at, int64_t bytes);
    void written_by_host(void* at, int64_t bytes);
    // A kernel of the processor.
    void prepare_host(const KernelCall& call, const std::vector<void*>& pieces);
    // A kernel of the device.
    Result<void> launch(const KernelCall& call,
                        const std::vector<void*>& pieces,
                        int64_t begin,
                        int64_t end);
    void copy(void* to, const void* from, int64_t bytes);

    Result<void> wait() { return device_->wait(); }
    // Waits. An error if something failed since the last call, or if an index left its tensor.
    Result<void> finish();
    // The processor has all bytes afterwards.
    Result<void> settle();
    int64_t bytes() const { return bytes_; }  // on the device

private:
    struct Region {
        std::byte* host = nullptr;
        int64_t bytes = 0;
        DeviceAddress device = 0;
        NewerBytes newer;
    };
    struct Part {
        Region* region = nullptr;  // missing: memory that was not added
        int64_t begin = 0, end = 0;
    };
    Part find(const void* at, int64_t bytes);
    Result<void> give_memory(Region& region);
    Result<void> upload(const Part& part);
    Result<void> download(const Part& part);
    Result<DeviceAddress> borrow(const void* at, int64_t bytes);
    Result<DeviceAddress> flag();
    void keep(Result<void> done);

    std::shared_ptr<Device> device_;
    std::map<uintptr_t, Region> regions_;  // by address on the host
    DeviceAddress flag_ = 0;
    bool flag_used_ = false;
    Result<void> trouble_;
    int64_t bytes_ = 0;
};

}  // namespace lemma::runtime
