// SPDX-License-Identifier: Apache-2.0
// engine/stored_code.h — what the object cache keeps beside plans.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "engine/code.h"
#include "runtime/device.h"

namespace lemma::runtime {

template <class Archive>
void fields(Archive& archive, like<Device::KernelCode, Archive>& kernel) {
    auto& [name, code, group_memory, aligned] = kernel;
    archive(name, code, group_memory, aligned);
}

}  // namespace lemma::runtime

namespace lemma::engine {

template <class Archive>
void fields(Archive& archive, like<Code::Packer, Archive>& packer) {
    auto& [step, argument, lowest] = packer;
    archive(step, argument, lowest);
}

// The kernels of a plan for a device.
struct DeviceCode {
    // By step; without a symbol, the processor runs the step, or it has no kernel.
    struct Step {
        std::string symbol;
        int64_t group = 1;
        std::vector<uint8_t> written;  // by argument
    };
    std::vector<Step> steps;
    std::vector<runtime::Device::KernelCode> kernels;
};

template <class Archive>
void fields(Archive& archive, like<DeviceCode::Step, Archive>& step) {
    auto& [symbol, group, written] = step;
    archive(symbol, group, written);
}

// The compiler's input is large, and nobody needs it afterwards.
inline void free_function(loop::ScheduledKernel& kernel) {
    const int64_t items = kernel.function.items;
    kernel.function = {};
    kernel.narrower = nullptr;
    kernel.function.items = items;
}

}  // namespace lemma::engine
