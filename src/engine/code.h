// SPDX-License-Identifier: Apache-2.0
// engine/code.h — what the engines of one program share: the compiler, and for each set of extents
// a plan with its machine code and its weights in the layout of the kernels.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/control.h"
#include "base/result.h"
#include "codegen/compiler.h"
#include "loop/plan/plan.h"
#include "runtime/device.h"
#include "runtime/device_constants.h"
#include "runtime/kernel.h"
#include "runtime/memory.h"

namespace lemma::engine {

// Nobody changes it once it is made.
struct Code {
    loop::Plan plan;
    std::vector<runtime::KernelFunction> kernels;  // by step of the plan; null: another kind
    // By step of a plan for a device; empty: there is none.
    struct OnDevice {
        const runtime::DeviceKernel* kernel = nullptr;  // missing: the processor runs the step
        int64_t group = 1;
        std::vector<uint8_t> written;  // by argument
    };
    std::vector<OnDevice> on_device;
    std::vector<runtime::Memory> memory;  // of constants
    std::vector<void*> constants;         // by storage: the memory of a constant; null: not shared
    // The same memory on the device, once the code is made.
    std::vector<std::shared_ptr<runtime::DeviceConstants>> device_constants;
    // The content of storages that an engine has for itself, before its first run.
    struct Initial {
        loop::StorageId storage;
        std::vector<std::byte> bytes;
    };
    std::vector<Initial> initial;
    bool direct = false;    // may run from bytes to bytes
    bool stateful = false;  // such runs begin in the state: steps ask it for extents and values
    // A step that packs large weights in pieces: after each piece, the first byte of the argument
    // that later pieces read.
    struct Packer {
        size_t step = 0;
        size_t argument = 0;
        std::vector<int64_t> lowest;
    };
    std::vector<Packer> packers;  // only while the code is made

    int64_t bytes() const;  // of the constants
};

// Whether a run of the step needs the state of the interpreter.
bool asks_state(const loop::PlanStep& step);

// The extents that follow from the inputs, by symbol.
using CodeKey = std::vector<std::pair<uint32_t, int64_t>>;

class SharedCode {
public:
    // With a device, kernels run there where they can.
    static Result<std::shared_ptr<SharedCode>> create(
        codegen::CompilerOptions options, std::shared_ptr<runtime::Device> device = nullptr);

    // Finds the code, or makes it while other engines wait for it.
    using Maker = std::function<Result<std::shared_ptr<Code>>()>;
    Result<std::shared_ptr<const Code>> get(const CodeKey& key,
                                            const Maker& make,
                                            const RunControl* control);
    // Some code with the property, if there is any.
    using Wanted = std::function<bool(const Code&)>;
    std::optional<std::pair<CodeKey, std::shared_ptr<const Code>>> find(const Wanted& wanted);
    // Waits for its turn to make code, unless the call should end.
    Result<std::unique_lock<std::recursive_mutex>> wait(const RunControl* control);

    // Held by whoever makes code or reads the data of variables.
    std::recursive_mutex& making() { return making_; }
    // The compiler belongs to the holder of `making`.
    codegen::Compiler& compiler() { return *compiler_; }
    // The compiler for the device; null: there is none.
    codegen::Compiler* device_compiler() { return device_compiler_.get(); }
    const std::shared_ptr<runtime::Device>& device() const { return device_; }
    const loop::Target& target() const { return main_compiler().target(); }
    // Of both compilers, and with the name of the main one.
    codegen::CompilerStats stats() const;
    // Kernels of the device that were in the cache with their plan.
    void add_cached(size_t kernels) { cached_ += kernels; }
    // The duration of making, in seconds.
    struct Times {
        double plan = 0, code = 0, pack = 0;
    };
    Times& times() { return times_; }
    loop::PassLog& log() { return log_; }

private:
    SharedCode(std::unique_ptr<codegen::Compiler> compiler,
               std::unique_ptr<codegen::Compiler> device_compiler,
               std::shared_ptr<runtime::Device> device);
    const codegen::Compiler& main_compiler() const {
        return device_compiler_ ? *device_compiler_ : *compiler_;
    }
    std::shared_ptr<const Code> use(const CodeKey& key);

    std::recursive_mutex making_;
    std::mutex finding_;
    struct Known {
        std::weak_ptr<const Code> code;
        std::shared_ptr<const Code> kept;  // if it was used recently
        uint64_t used = 0;
    };
    std::map<CodeKey, Known> known_;
    uint64_t uses_ = 0;
    std::unique_ptr<codegen::Compiler> compiler_;
    std::unique_ptr<codegen::Compiler> device_compiler_;
    std::shared_ptr<runtime::Device> device_;
    Times times_;
    size_t cached_ = 0;
    loop::PassLog log_;
};

}  // namespace lemma::engine
