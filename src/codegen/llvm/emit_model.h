// SPDX-License-Identifier: Apache-2.0
// codegen/llvm/emit_model.h — a frozen plan as LLVM IR: kernels, memory, and the functions that run
// the model.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "codegen/llvm/emit.h"
#include "codegen/object_maker.h"
#include "loop/plan/frozen.h"

namespace lemma::codegen {

// The section of the constants. The module has zeros in their place: LLVM would keep several copies
// of the bytes.
extern const char* const kConstantSection;

// Adds the functions of the model (object_maker.h) to the module. All other names are internal.
void emit_model(const loop::FrozenPlan& plan,
                const std::string& name,
                const EmitOptions& options,
                llvm::Module& module);

}  // namespace lemma::codegen
