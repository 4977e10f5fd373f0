// SPDX-License-Identifier: Apache-2.0
// runtime/device.h — a processor with memory of its own, such as a GPU. Work is done in the order
// in which it is given.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace lemma::runtime {

using DeviceAddress = uint64_t;

// A kernel that a device has loaded. The device owns it.
class DeviceKernel {
public:
    virtual ~DeviceKernel() = default;
};

// Any number of threads may use it.
class Device {
public:
    virtual ~Device() = default;

    virtual std::string name() const = 0;
    virtual Result<DeviceAddress> allocate(int64_t bytes) = 0;
    // After the work that was given so far.
    virtual void free(DeviceAddress memory) = 0;
    // The bytes may change as soon as it returns.
    virtual Result<void> upload(DeviceAddress to, const void* from, int64_t bytes) = 0;
    // The bytes are there when it returns.
    virtual Result<void> download(void* to, DeviceAddress from, int64_t bytes) = 0;
    virtual Result<void> copy(DeviceAddress to, DeviceAddress from, int64_t bytes) = 0;
    // The kernel of that name in a text of the code generator.
    virtual Result<const DeviceKernel*> load(const std::string& text, const std::string& name) = 0;
    struct Launch {
        const DeviceKernel* kernel = nullptr;
        std::span<const DeviceAddress> buffers;
        int64_t begin = 0, end = 0;  // items
        int64_t group = 1;           // items of a group
    };
    virtual Result<void> launch(const Launch& launch) = 0;
    // Until all work is done; an error if some of it failed.
    virtual Result<void> wait() = 0;
};

}  // namespace lemma::runtime
