#include "codegen/llvm/llvm_maker.h"

#include <fmt/format.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/spills.h"
#include "codegen/llvm/targets.h"

namespace lemma::codegen {

namespace {

// Kernels arrive scheduled. LLVM only allocates registers and moves invariants out of loops.
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

// The scheduling model for every target. With the models of older processors, a third of the tiles
// that fit 32 registers spill.
constexpr const char* kTunedFor = "sapphirerapids";

class LlvmMaker final : public ObjectMaker {
public:
    LlvmMaker(const MachineTarget& target, bool fast, std::unique_ptr<llvm::TargetMachine> machine)
        : options_{.has_fma = target.has_fma, .fast = fast},
          vector_bits_(target.schedule.vector_bytes * 8),
          tuned_for_(target.name == "avx512" ? kTunedFor : ""),
          machine_(std::move(machine)) {}

    Result<MadeObject> make(const loop::Function& function, const std::string& name) override;

private:
    bool add_passes(llvm::legacy::PassManager& passes,
                    llvm::raw_pwrite_stream& out,
                    int64_t& spills);

    EmitOptions options_;
    int64_t vector_bits_;
    std::string tuned_for_;
    std::unique_ptr<llvm::TargetMachine> machine_;
};

// The passes of `addPassesToEmitFile`, and one that inspects the machine code before it is written.
bool LlvmMaker::add_passes(llvm::legacy::PassManager& passes,
                           llvm::raw_pwrite_stream& out,
                           int64_t& spills) {
    auto& machine = static_cast<llvm::LLVMTargetMachine&>(*machine_);
    auto* const module_info = new llvm::MachineModuleInfoWrapperPass(&machine);
    llvm::TargetPassConfig* const config = machine.createPassConfig(passes);
    passes.add(config);
    passes.add(module_info);
    if (config->addISelPasses()) return false;
    config->addMachinePasses();
    config->setInitialized();
    passes.add(create_spill_counter(spills));
    if (machine.addAsmPrinter(passes,
                              out,
                              nullptr,
                              llvm::CodeGenFileType::ObjectFile,
                              module_info->getMMI().getContext())) {
        return false;
    }
    passes.add(llvm::createFreeMachineFunctionPass());
    return true;
}

Result<MadeObject> LlvmMaker::make(const loop::Function& function, const std::string& name) {
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
        if (!tuned_for_.empty()) made.addFnAttr("tune-cpu", tuned_for_);
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
    MadeObject made;
    if (!add_passes(emitter, out, made.spills)) {
        return std::unexpected(Error{"there is no object format for this machine"});
    }
    emitter.run(module);
    made.bytes.assign(bytes.data(), bytes.size());
    return made;
}

}  // namespace

Result<std::unique_ptr<ObjectMaker>> create_llvm_maker(const MachineTarget& target, bool fast) {
    LEMMA_TRY(std::unique_ptr<llvm::TargetMachine> machine, create_machine(target));
    return std::make_unique<LlvmMaker>(target, fast, std::move(machine));
}

}  // namespace lemma::codegen
