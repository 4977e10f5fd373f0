// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/ptx_maker.h"

#include <fmt/format.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>

#include <algorithm>
#include <mutex>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/passes.h"

// Some builds of LLVM lack this back end, and its headers are not public.
#ifdef LEMMA_LLVM_NVPTX
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}
#endif

namespace lemma::codegen {

namespace {

constexpr const char* kTriple = "nvptx64-nvidia-cuda";
constexpr const char* kProcessor = "sm_80";  // the driver compiles for newer ones
constexpr const char* kFeatures = "+ptx70";

Result<std::unique_ptr<llvm::TargetMachine>> create_ptx_machine() {
#ifdef LEMMA_LLVM_NVPTX
    static std::once_flag once;
    std::call_once(once, [] {
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        LLVMInitializeNVPTXAsmPrinter();
    });
    std::string problem;
    const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(kTriple, problem);
    if (!target) return std::unexpected(Error{"there is no code for NVIDIA GPUs: " + problem});
    return std::unique_ptr<llvm::TargetMachine>(
        target->createTargetMachine(kTriple,
                                    kProcessor,
                                    kFeatures,
                                    llvm::TargetOptions(),
                                    llvm::Reloc::PIC_,
                                    std::nullopt,
                                    llvm::CodeGenOptLevel::Aggressive));
#else
    return std::unexpected(Error{"this build of LLVM makes no code for NVIDIA GPUs"});
#endif
}

// Loops arrive as written; LLVM unrolls them.
llvm::ModulePassManager all_passes(llvm::PassBuilder& passes) {
    return passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
}

// LLVM 19 crashes when it splits some vectors of doubles (8 floats become doubles, and these
// bytes). Loads and stores stay vectors.
llvm::ModulePassManager split_vectors(llvm::PassBuilder&) {
    llvm::FunctionPassManager functions;
    functions.addPass(llvm::ScalarizerPass());
    llvm::ModulePassManager result;
    result.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
    return result;
}
bool has_doubles(const loop::Function& function) {
    return std::ranges::any_of(function.exprs, [](const loop::Expr& e) {
        return e.type.kind == loop::Kind::F64 && e.type.lanes > 1;
    });
}

// A function that no GPU has: the driver would not find it.
Result<void> check_calls(const llvm::Module& module) {
    for (const llvm::Function& function : module) {
        if (!function.isDeclaration() || function.isIntrinsic()) continue;
        return std::unexpected(Error{
            fmt::format("a kernel for a GPU calls `{}`", std::string_view(function.getName()))});
    }
    return {};
}

class PtxMaker final : public ObjectMaker {
public:
    PtxMaker(bool fast, std::unique_ptr<llvm::TargetMachine> machine)
        : options_{.has_fma = true, .fast = fast, .is_x86 = false}, machine_(std::move(machine)) {}

    Result<MadeObject> make(const loop::Function& function, const std::string& name) override;
    Result<std::string> make_model(const loop::FrozenPlan&, const std::string&) override {
        return std::unexpected(Error{"a model for a GPU cannot be one object"});
    }

private:
    EmitOptions options_;
    std::unique_ptr<llvm::TargetMachine> machine_;
};

Result<MadeObject> PtxMaker::make(const loop::Function& function, const std::string& name) {
    llvm::LLVMContext context;
    llvm::Module module(name, context);
    module.setDataLayout(machine_->createDataLayout());
    module.setTargetTriple(machine_->getTargetTriple().str());
    emit(function, name, options_, module);
    LEMMA_TRY(check_calls(module));
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    if (llvm::verifyModule(module, &stream)) {
        return std::unexpected(Error{"a kernel that is not valid: " + problem});
    }
    run_passes(module, *machine_, all_passes);
    if (has_doubles(function)) run_passes(module, *machine_, split_vectors);
    llvm::SmallVector<char, 0> text;
    llvm::raw_svector_ostream out(text);
    llvm::legacy::PassManager emitter;
    if (machine_->addPassesToEmitFile(emitter, out, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
        return std::unexpected(Error{"there is no text of kernels for NVIDIA GPUs"});
    }
    emitter.run(module);
    MadeObject made;
    made.bytes.assign(text.data(), text.size());
    return made;
}

}  // namespace

Result<std::unique_ptr<ObjectMaker>> create_ptx_maker(bool fast) {
    LEMMA_TRY(std::unique_ptr<llvm::TargetMachine> machine, create_ptx_machine());
    return std::make_unique<PtxMaker>(fast, std::move(machine));
}

}  // namespace lemma::codegen
