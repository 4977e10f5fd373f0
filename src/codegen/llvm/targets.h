// SPDX-License-Identifier: Apache-2.0
// codegen/llvm/targets.h — target processors in LLVM's terms.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "base/result.h"
#include "codegen/machine_target.h"

namespace lemma::codegen {

// `shared`: the code may be part of a shared library.
Result<std::unique_ptr<llvm::TargetMachine>> create_machine(const MachineTarget& target,
                                                            bool shared = false);

}  // namespace lemma::codegen
