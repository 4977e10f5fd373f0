// SPDX-License-Identifier: Apache-2.0
// runtime/control.h — the steps of a run: kernel calls, loops and branches. Memory is named by
// number. A loop or branch changes the inputs of its body by moving pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "runtime/kernel.h"
#include "tensor/dtype.h"

namespace lemma::runtime {

// Instead of a piece of memory: an i64 that a kernel sets to 1 if an index leaves its tensor.
inline constexpr size_t kFlag = SIZE_MAX;
// Likewise: memory that a thread uses for one item after the other (Executable::set_scratch).
inline constexpr size_t kScratch = SIZE_MAX - 1;

struct Loop;
struct Branch;

class DeviceKernel;    // device.h
struct DeviceSegment;  // device_segment.h

// What a kernel does with a buffer: with how many bytes (0: up to the end of the memory).
struct BufferUse {
    int64_t bytes = 0;
    bool written = false;
};

struct KernelCall {
    KernelFunction kernel = nullptr;
    std::vector<size_t> buffers;  // pieces of memory, kFlag or kScratch
    int64_t items = 1;
    // In a run with a device: the kernel there, if it has one; and the uses of all buffers.
    const DeviceKernel* device = nullptr;
    int64_t group = 1;
    std::vector<BufferUse> uses;
    // Of one item: estimated by the engine, then measured by the runs.
    mutable double seconds = 1e-6;
    mutable uint32_t calls = 0;
};
// Kernels that do not depend on each other. Threads share all their items, without a barrier.
struct KernelWave {
    std::vector<KernelCall> calls;
    std::vector<size_t> numbers;  // whose time it is, by call
    mutable uint32_t runs = 0;
};
using HostCall = std::function<Result<void>()>;

struct Step {
    std::string label;
    size_t number = 0;  // whose time it is
    std::variant<KernelCall, KernelWave, HostCall, std::unique_ptr<Loop>, std::unique_ptr<Branch>>
        kind;
    // The steps of the device from here on, once a run has come here.
    mutable std::shared_ptr<DeviceSegment> segment = nullptr;

    Step();
    ~Step();
    Step(Step&&) noexcept;
    Step& operator=(Step&&) noexcept;
};
using Steps = std::vector<Step>;

// A number in memory, of any integer type or bool.
struct Number {
    size_t piece = 0;
    tensor::DType dtype = tensor::DType::I64;
};
// Evenly spaced pieces of memory; `first` is the number of the first one.
struct Pack {
    size_t first = 0;
    int64_t stride = 0;  // bytes
    int64_t count = 0;
};
struct Copy {
    size_t from = 0, to = 0;
    int64_t to_begin = 0, bytes = 0;
};
struct Condition {
    Steps steps;
    size_t value = 0;  // a bool
};

struct Loop {
    struct Item {
        size_t seen = 0;
        Pack pack;
    };
    // How a step passes a value to the next: the value stays, the pointer moves to the result, or
    // the result is copied into one of two slots.
    enum class Passing : uint8_t { Stays, Moves, Copied };
    struct Carried {
        Passing passing = Passing::Stays;
        size_t seen = 0, initial = 0, result = 0, outcome = 0;
        size_t slots[2] = {};
        int64_t bytes = 0;
    };
    // A result that the body writes to a given address.
    struct Written {
        size_t result = 0;
        std::optional<Pack> pack;
        size_t slots[2] = {};
    };
    struct Collected {
        size_t result = 0;
        Pack pack;
        int64_t bytes = 0;
    };
    int64_t count = 0;      // upper bound of the iterations
    bool must_end = false;  // a condition must end the loop before the count
    std::optional<Number> dynamic_count, index;
    std::vector<Item> items;
    std::vector<Carried> carried;
    std::vector<Written> written;
    std::vector<Collected> collected;
    std::vector<Copy> before, after;
    int64_t most_results = INT64_MAX;
    std::optional<Condition> pre, post;
    Steps body;
    std::function<void(int64_t)> ended;  // called after the loop with the number of iterations
};

struct Branch {
    struct Arm {
        std::optional<Condition> condition;  // empty: the `else` arm
        Steps body;
        std::vector<size_t> results;
    };
    std::vector<Arm> arms;
    std::vector<size_t> outputs;
    std::function<Result<void>(size_t)> taken;  // called after that arm; may be empty
};

}  // namespace lemma::runtime
