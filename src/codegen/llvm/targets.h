// codegen/llvm/targets.h — the processors that code is made for, by their short names.
#pragma once

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>

#include <string>

#include "base/result.h"
#include "codegen/llvm/emit.h"
#include "loop/layout.h"

namespace lemma::codegen {

struct MachineTarget {
    llvm::orc::JITTargetMachineBuilder builder;
    loop::Target schedule;  // what schedules need to know
    EmitOptions emit;
    bool runs_here = true;  // in this process
    std::string name;       // with all that makes a difference to the code
};

// `avx512`, `avx2`, `sse2` or `aarch64`; empty for all that this processor has. An error if there
// is no such target, or this processor is of that kind and has less.
Result<MachineTarget> find_target(const std::string& name);

}  // namespace lemma::codegen
