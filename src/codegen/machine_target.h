// codegen/machine_target.h — the processors that code is made for, by their short names.
#pragma once

#include <string>

#include "base/result.h"
#include "loop/ir/layout.h"

namespace lemma::codegen {

struct MachineTarget {
    std::string name;         // `avx512`, `avx2`, `sse2` or `aarch64`
    bool whole_host = false;  // all that this processor has, not only what the name says
    bool runs_here = true;    // in this process
    bool has_fma = true;
    loop::Target schedule;  // what schedules need to know
    std::string identity;   // all that makes a difference to the code
};

// The name may be empty: all that this processor has. An error if there is no such target, or this
// processor is of that kind and has less.
Result<MachineTarget> find_target(const std::string& name);

}  // namespace lemma::codegen
