// SPDX-License-Identifier: Apache-2.0
// codegen/llvm/llvm_maker.h — compiles one kernel at a time to an object file, with LLVM.
#pragma once

#include <memory>

#include "base/result.h"
#include "codegen/object_maker.h"

namespace lemma::codegen {

Result<std::unique_ptr<ObjectMaker>> create_llvm_maker(const MachineTarget& target, bool fast);

}  // namespace lemma::codegen
