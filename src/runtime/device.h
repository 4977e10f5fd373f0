// SPDX-License-Identifier: Apache-2.0
// runtime/device.h — a processor with memory of its own, such as a GPU.
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

// Work that a queue has recorded. It does not outlive its queue.
class DeviceGraph {
public:
    virtual ~DeviceGraph() = default;
};

// Work that is done in the order in which it is given. One thread at a time uses a queue.
class DeviceQueue {
public:
    virtual ~DeviceQueue() = default;  // after its work

    // At the beginning of a run: this thread gives the work from now on.
    virtual Result<void> begin() { return {}; }
    // The bytes may change as soon as it returns.
    virtual Result<void> upload(DeviceAddress to, const void* from, int64_t bytes) = 0;
    // The bytes are there after the next `wait`.
    virtual Result<void> download(void* to, DeviceAddress from, int64_t bytes) = 0;
    virtual Result<void> copy(DeviceAddress to, DeviceAddress from, int64_t bytes) = 0;
    struct Launch {
        const DeviceKernel* kernel = nullptr;
        std::span<const DeviceAddress> buffers;
        int64_t begin = 0, end = 0;  // items
        int64_t group = 1;           // items of a group
    };
    // After `begin` in this thread.
    virtual Result<void> launch(const Launch& launch) = 0;
    // Until all work is done; an error if some of it failed.
    virtual Result<void> wait() = 0;
    // Later work comes after what a stream of the platform has to do so far. Null: the one that
    // programs use if they name none.
    virtual Result<void> follow(void*) { return {}; }

    // ---- Recordings -----------------------------------------------------------------------------

    virtual bool can_record() const { return false; }
    // Launches and copies from now on are recorded and not done. Other work is not allowed.
    virtual Result<void> begin_recording() { return no_recordings(); }
    // Ends the recording in any case.
    virtual Result<std::unique_ptr<DeviceGraph>> end_recording() { return no_recordings(); }
    // Does the recorded work.
    virtual Result<void> replay(const DeviceGraph&) { return no_recordings(); }

    // ---- Times ----------------------------------------------------------------------------------

    virtual bool can_mark() const { return false; }
    // The mark of that number is the time at which the work so far is done.
    virtual Result<void> mark(size_t) { return {}; }
    // From one mark to another, after `wait`.
    virtual Result<double> seconds(size_t, size_t) { return 0; }

private:
    static std::unexpected<Error> no_recordings() {
        return std::unexpected(Error{"the device does not record work"});
    }
};

// Any number of threads may use it.
class Device {
public:
    virtual ~Device() = default;

    virtual std::string name() const = 0;
    virtual int number() const { return 0; }  // among those of its kind
    virtual Result<DeviceAddress> allocate(int64_t bytes) = 0;
    // No queue has work with it any more.
    virtual void free(DeviceAddress memory) = 0;
    // The code of a text from the code generator. Devices of the same make load it, too.
    virtual Result<std::string> compile(const std::string& text) = 0;
    // The device and its driver, as far as code depends on them.
    virtual std::string make() const { return {}; }
    struct KernelCode {
        std::string name, code;
        int64_t group_memory = 0;  // bytes that a launch gives each group
        bool aligned = false;      // buffers must begin at multiples of 16 bytes
    };
    virtual Result<const DeviceKernel*> load(const KernelCode& kernel) = 0;
    virtual Result<std::unique_ptr<DeviceQueue>> make_queue() = 0;

    // The most that the hardware does in a second; 0: unknown.
    struct Peaks {
        double operations = 0;  // of f32, in which a product with a sum counts twice
        double bytes = 0;       // between memory and processors
    };
    virtual Peaks peaks() const { return {}; }
};

}  // namespace lemma::runtime
