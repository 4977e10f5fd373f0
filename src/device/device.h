// SPDX-License-Identifier: Apache-2.0
// device/device.h — devices by the names that users give them.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "runtime/device.h"

namespace lemma::device {

struct ChosenDevice {
    enum class Kind { Processor, Cuda, Any };
    Kind kind = Kind::Processor;
    int number = 0;  // of a GPU
};

// `cpu`, `cuda`, `cuda:N`, or `auto` for a GPU if there is one. An error for other names.
Result<ChosenDevice> parse_device(const std::string& name);

// Null: the processor alone. An error if there is no such device; if any will do, `trouble` gets
// it.
Result<std::shared_ptr<runtime::Device>> open_device(const ChosenDevice& chosen,
                                                     std::string* trouble = nullptr);

}  // namespace lemma::device
