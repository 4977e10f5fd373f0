// SPDX-License-Identifier: Apache-2.0
// runtime/device_recording.h — kernel calls that a device has recorded, with the memory that they
// use.
#pragma once

#include <memory>
#include <vector>

#include "runtime/device_memory.h"

namespace lemma::runtime {

struct DeviceMemory::Recording {
    std::unique_ptr<DeviceGraph> graph;
    // In order of the regions, without overlaps. What the processor has changed is copied before.
    std::vector<Part> used, written;
    bool flag = false;  // some call may set it
    uint64_t generation = 0;
};

}  // namespace lemma::runtime
