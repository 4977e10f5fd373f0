// SPDX-License-Identifier: Apache-2.0
// engine/stored_code.h — what the object cache keeps beside plans.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "engine/code.h"

namespace lemma::engine {

template <class Archive>
void fields(Archive& archive, like<Code::Packer, Archive>& packer) {
    auto& [step, argument, lowest] = packer;
    archive(step, argument, lowest);
}

// The kernels of a plan for a device.
struct DeviceTexts {
    // By step; without a symbol, the processor runs the step, or it has no kernel.
    struct Step {
        std::string symbol;
        int64_t group = 1;
        std::vector<uint8_t> written;  // by argument
    };
    std::vector<Step> steps;
    std::vector<std::pair<std::string, std::string>> texts;  // by symbol
};

template <class Archive>
void fields(Archive& archive, like<DeviceTexts::Step, Archive>& step) {
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
