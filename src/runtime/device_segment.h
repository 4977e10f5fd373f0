// SPDX-License-Identifier: Apache-2.0
// runtime/device_segment.h — steps of a device that follow each other. A run that finds their
// memory where it was in an earlier run gives them to the device as one.
#pragma once

#include <memory>
#include <vector>

#include "runtime/control.h"
#include "runtime/device_recording.h"

namespace lemma::runtime {

struct DeviceSegment {
    // The addresses of all pieces in some run. Loops may alternate between a few.
    struct Variant {
        std::vector<const void*> addresses;
        std::shared_ptr<DeviceMemory::Recording> recording;
    };
    size_t steps = 0;
    std::vector<const KernelCall*> calls;  // with items
    std::vector<size_t> pieces;            // of all calls, each once
    std::vector<Variant> variants;
    int left = 16;  // recordings that may still be made
};

// The marks of a run, and then two for each call.
inline constexpr size_t kFirstMark = 0, kLastMark = 1, kCallMarks = 2;

// Whether kernels of the device are all that the step does.
bool is_on_device(const Step& step);

}  // namespace lemma::runtime
