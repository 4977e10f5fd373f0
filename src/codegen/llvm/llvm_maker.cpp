#include "codegen/llvm/llvm_maker.h"

#include <fmt/format.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/targets.h"

namespace lemma::codegen {

namespace {

// Kernels come in the form that they are to have; only registers and what loops repeat is left.
void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
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
    llvm::ModulePassManager manager;
    auto parsed = passes.parsePassPipeline(
        manager, "function(sroa,early-cse<memssa>,simplifycfg,loop-mssa(licm),early-cse)");
    if (parsed) {
        llvm::consumeError(std::move(parsed));
        return;
    }
    manager.run(module, modules);
}

class LlvmMaker final : public ObjectMaker {
public:
    LlvmMaker(const MachineTarget& target, bool fast, std::unique_ptr<llvm::TargetMachine> machine)
        : options_{.has_fma = target.has_fma, .fast = fast},
          vector_bits_(target.schedule.vector_bytes * 8),
          machine_(std::move(machine)) {}

    Result<std::string> make(const loop::Function& function, const std::string& name) override;

private:
    EmitOptions options_;
    int64_t vector_bits_;
    std::unique_ptr<llvm::TargetMachine> machine_;
};

Result<std::string> LlvmMaker::make(const loop::Function& function, const std::string& name) {
    llvm::LLVMContext context;
    llvm::Module module(name, context);
    module.setDataLayout(machine_->createDataLayout());
    module.setTargetTriple(machine_->getTargetTriple().str());
    emit(function, name, options_, module);
    for (llvm::Function& made : module) {
        if (made.isDeclaration()) continue;
        made.addFnAttr("target-cpu", machine_->getTargetCPU());
        made.addFnAttr("target-features", machine_->getTargetFeatureString());
        made.addFnAttr("prefer-vector-width", fmt::format("{}", vector_bits_));
        made.addFnAttr("no-trapping-math", "true");
        if (options_.fast) made.addFnAttr("reciprocal-estimates", "all");
    }
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    if (llvm::verifyModule(module, &stream)) {
        return std::unexpected(Error{"a kernel that is not valid: " + problem});
    }
    optimise(module, *machine_);
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream out(bytes);
    llvm::legacy::PassManager emitter;
    if (machine_->addPassesToEmitFile(emitter, out, nullptr, llvm::CodeGenFileType::ObjectFile)) {
        return std::unexpected(Error{"there is no object format for this machine"});
    }
    emitter.run(module);
    return std::string(bytes.data(), bytes.size());
}

}  // namespace

Result<std::unique_ptr<ObjectMaker>> create_llvm_maker(const MachineTarget& target, bool fast) {
    LEMMA_TRY(std::unique_ptr<llvm::TargetMachine> machine, create_machine(target));
    return std::make_unique<LlvmMaker>(target, fast, std::move(machine));
}

}  // namespace lemma::codegen
