// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/passes.h"

namespace lemma::codegen {

void run_passes(llvm::Module& module, llvm::TargetMachine& machine, ChoosePasses choose) {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager graphs;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder passes(&machine);
    passes.registerModuleAnalyses(modules);
    passes.registerCGSCCAnalyses(graphs);
    passes.registerFunctionAnalyses(functions);
    passes.registerLoopAnalyses(loops);
    passes.crossRegisterProxies(loops, functions, graphs, modules);
    choose(passes).run(module, modules);
}

}  // namespace lemma::codegen
