// SPDX-License-Identifier: Apache-2.0
// runtime/device_constants.h — memory that nobody changes any more, on the processor and on a
// device. Sessions share both copies.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "base/result.h"
#include "runtime/device.h"
#include "runtime/newer_bytes.h"

namespace lemma::runtime {

class DeviceConstants {
public:
    struct Copies {
        std::byte* host = nullptr;  // of the caller, who keeps it
        int64_t bytes = 0;
        DeviceAddress device = 0;  // 0: none yet; this object frees it
        NewerBytes newer;
    };
    DeviceConstants(std::shared_ptr<Device> device, Copies copies)
        : device_(std::move(device)), copies_(std::move(copies)) {}
    ~DeviceConstants() {
        if (copies_.device != 0) device_->free(copies_.device);
    }
    DeviceConstants(const DeviceConstants&) = delete;
    DeviceConstants& operator=(const DeviceConstants&) = delete;

    std::byte* host() const { return copies_.host; }
    int64_t bytes() const { return copies_.bytes; }
    // The address on the device. All bytes are there afterwards.
    Result<DeviceAddress> on_device(DeviceQueue& queue);
    // The bytes of the range are on the processor afterwards.
    Result<void> on_host(DeviceQueue& queue, int64_t begin, int64_t end);

private:
    std::shared_ptr<Device> device_;
    std::mutex mutex_;
    Copies copies_;
};

}  // namespace lemma::runtime
