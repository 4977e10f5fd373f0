// SPDX-License-Identifier: Apache-2.0
// runtime/device_memory.h — memory that the processor and a device both have. Of each byte it is
// known which of the two is newer, and only those that the other side needs are copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/control.h"
#include "runtime/device.h"
#include "runtime/device_constants.h"
#include "runtime/newer_bytes.h"

namespace lemma::runtime {

class DeviceMemory {
public:
    static Result<std::unique_ptr<DeviceMemory>> create(std::shared_ptr<Device> device);
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    // Memory of the processor that kernels use. The device gets a copy when a kernel needs it.
    void add(void* host, int64_t bytes);
    void add(std::shared_ptr<DeviceConstants> constants);
    void remove(void* host);
    // From now on, nobody changes the memory, and others may use both copies.
    std::shared_ptr<DeviceConstants> share(void* host);

    // Before the processor reads or writes bytes; without a number, those up to the end of the
    // memory. What fails is told by `finish`.
    void read_by_host(const void* at, int64_t bytes);
    void written_by_host(void* at, int64_t bytes);
    // A kernel of the processor.
    void prepare_host(const KernelCall& call, const std::vector<void*>& pieces);
    void copy(void* to, const void* from, int64_t bytes);

    // Bytes from elsewhere replace those of the memory. They may change after `finish`.
    Result<void> give(void* at, const void* from, int64_t bytes);
    // Bytes of the memory go elsewhere. They are there after `finish`.
    Result<void> take(void* to, const void* at, int64_t bytes);

    // The same for bytes in other memory of the device, which stays as it is until `finish`.
    Result<void> give_there(void* at, DeviceAddress from, int64_t bytes);
    Result<void> take_there(DeviceAddress to, const void* at, int64_t bytes);
    // Where the device has the bytes.
    Result<DeviceAddress> address(const void* at, int64_t bytes);
    // Later work comes after that of a stream of the platform.
    Result<void> follow(void* stream) { return note(queue_->follow(stream)); }

    // At the beginning of a run, and before launches outside of a run.
    Result<void> begin() { return note(queue_->begin()); }
    // A kernel of the device.
    Result<void> launch(const KernelCall& call,
                        const std::vector<void*>& pieces,
                        int64_t begin,
                        int64_t end);

    // Kernel calls that the device does as one.
    struct Recording;
    // Nothing if they cannot be recorded. Nothing is done yet.
    std::shared_ptr<Recording> record(std::span<const KernelCall* const> calls,
                                      const std::vector<void*>& pieces);
    // Whether the memory has the same addresses on the device as before.
    bool is_valid(const Recording& recording) const;
    Result<void> replay(const Recording& recording);

    // Times of work on the device, if it can tell them: the mark of that number is set when the
    // work so far is done. They are known after `finish`.
    bool can_mark() const { return queue_->can_mark(); }
    Result<void> mark(size_t number) { return note(queue_->mark(number)); }
    Result<double> seconds(size_t from, size_t to) { return queue_->seconds(from, to); }

    Result<void> wait() { return note(queue_->wait()); }
    // Waits. An error if something failed since the last call, or if an index left its tensor.
    Result<void> finish();
    // Whether the device itself failed, now or earlier.
    bool failed() const { return failed_; }
    int64_t bytes() const;  // on the device

private:
    struct Region {
        std::byte* host = nullptr;
        int64_t bytes = 0;
        DeviceAddress device = 0;
        NewerBytes newer;
        std::shared_ptr<DeviceConstants> constants;  // missing: the memory is ours alone
    };
    struct Part {
        Region* region = nullptr;  // missing: memory that was not added
        int64_t begin = 0, end = 0;

        DeviceAddress address() const { return region->device + static_cast<uint64_t>(begin); }
    };
    DeviceMemory(std::shared_ptr<Device> device, std::unique_ptr<DeviceQueue> queue)
        : device_(std::move(device)), queue_(std::move(queue)) {}
    Part find(const void* at, int64_t bytes);
    Result<void> give_memory(Region& region);
    Result<void> upload(const Part& part);
    Result<void> download(const Part& part);
    Result<void> copy_there(const Part& target, const Part& source, int64_t bytes);
    Result<DeviceAddress> borrow(const void* at, int64_t bytes);
    void give_back();
    Result<DeviceAddress> flag();
    Result<DeviceAddress> address_of(const KernelCall& call,
                                     size_t buffer,
                                     const std::vector<void*>& pieces);
    Result<void> record_calls(std::span<const KernelCall* const> calls,
                              const std::vector<void*>& pieces,
                              Recording& to);
    static void add_part(std::vector<Part>& parts, const Part& part);
    // Remembers whether the device failed.
    Result<void> note(Result<void> done) {
        failed_ |= !done;
        return done;
    }
    void keep(Result<void> done);

    std::shared_ptr<Device> device_;
    std::unique_ptr<DeviceQueue> queue_;
    std::map<uintptr_t, Region> regions_;  // by address on the host
    uint64_t generation_ = 0;              // changes with the addresses on the device
    DeviceAddress flag_ = 0;
    int64_t flag_value_ = 0;
    bool flag_used_ = false;
    Result<void> trouble_;
    bool failed_ = false;
    // Of the current launch, to reuse the memory.
    std::vector<DeviceAddress> addresses_, borrowed_;
    std::vector<Part> written_;
};

}  // namespace lemma::runtime
