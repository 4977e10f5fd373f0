// SPDX-License-Identifier: Apache-2.0
// codegen/llvm/passes.h — runs LLVM's passes over the code of a module.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>

namespace lemma::codegen {

using ChoosePasses = llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder&)>;

void run_passes(llvm::Module& module, llvm::TargetMachine& machine, ChoosePasses choose);

}  // namespace lemma::codegen
