// SPDX-License-Identifier: Apache-2.0
// device/cuda_device.h — an NVIDIA GPU, by the driver of the system.
#pragma once

#include <memory>

#include "base/result.h"
#include "runtime/device.h"

namespace lemma::device {

// An error if there is no driver, no such GPU, or if it is older than our code (sm_80).
Result<std::shared_ptr<runtime::Device>> open_cuda_device(int number);

}  // namespace lemma::device
