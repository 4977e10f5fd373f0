// SPDX-License-Identifier: Apache-2.0
// loop/schedule/share.h — lets kernels share code. Many kernels of a model differ only in numbers:
// where a buffer begins, extents, strides. The calls then pass these numbers.
#pragma once

#include <span>
#include <string>

#include "loop/schedule/schedule.h"

namespace lemma::loop {

struct SharedKernel {
    ScheduledKernel* kernel = nullptr;
    bool once = false;  // runs once: its speed matters less than its compilation
};

// Addresses begin at the lowest constant offset into each buffer, and calls move the buffers there
// (`ScheduledKernel::offsets`). If several kernels then differ in numbers only, the numbers that
// differ become arguments (`ScheduledKernel::numbers`). Kernels with narrower forms keep their
// numbers, because their innermost loops have no registers left. No kernel has offsets or numbers
// before. Calls cannot move the storages of `fixed`.
void share_code(std::span<const SharedKernel> kernels, const std::vector<StorageId>& fixed = {});

// Everything that determines the code of a function: equal bytes mean equal code. It takes a tenth
// of the time of the text.
std::string code_bytes(const Function& function);

}  // namespace lemma::loop
