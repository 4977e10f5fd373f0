// SPDX-License-Identifier: Apache-2.0
// codegen/machine_target.h — target processors by their short names.
#pragma once

#include <string>

#include "base/result.h"
#include "loop/ir/layout.h"

namespace lemma::codegen {

struct MachineTarget {
    std::string name;         // `avx512`, `avx2`, `sse2`, `aarch64`, `generic` or `cuda`
    bool whole_host = false;  // all features of this processor, not only those of the name
    bool runs_here = true;    // runs in this process
    bool has_fma = true;
    bool has_byte_dots = false;  // an instruction for loop::Op::DotBytes
    bool has_bf16_dots = false;  // and for loop::Op::DotBf16
    loop::Target schedule;       // the facts for schedules
    std::string identity;        // everything that affects the code
};

// An empty name means all features of this processor. An error if there is no such target, or if
// this processor is of that kind but lacks features.
Result<MachineTarget> find_target(const std::string& name);

// An NVIDIA GPU beside this processor; its code is PTX. The facts for schedules are those of the
// processor, which runs what the device cannot.
MachineTarget device_target(const MachineTarget& host);

// The same for code that may run elsewhere: a processor without features of this one is no error.
// `generic` means C for any processor, with vectors of 16 bytes; `neon` means `aarch64`.
Result<MachineTarget> any_target(const std::string& name);

}  // namespace lemma::codegen
