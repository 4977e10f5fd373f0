#include "codegen/llvm/targets.h"

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>

// Some builds of LLVM lack this back end, and its headers are not public.
#ifdef LEMMA_LLVM_AARCH64
extern "C" {
void LLVMInitializeAArch64TargetInfo();
void LLVMInitializeAArch64Target();
void LLVMInitializeAArch64TargetMC();
void LLVMInitializeAArch64AsmPrinter();
}
#endif

namespace lemma::codegen {

namespace {

using Builder = llvm::orc::JITTargetMachineBuilder;

Result<Builder> host() {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
    });
    auto builder = Builder::detectHost();
    if (!builder) {
        return std::unexpected(
            Error{"there is no code for this processor: " + llvm::toString(builder.takeError())});
    }
    return std::move(*builder);
}

Result<Builder> foreign() {
#ifdef LEMMA_LLVM_AARCH64
    static std::once_flag once;
    std::call_once(once, [] {
        LLVMInitializeAArch64TargetInfo();
        LLVMInitializeAArch64Target();
        LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64AsmPrinter();
    });
    Builder builder(llvm::Triple("aarch64-unknown-linux-gnu"));
    builder.setCPU("generic");
    builder.setRelocationModel(llvm::Reloc::PIC_);
    return builder;
#else
    return std::unexpected(Error{"this build of LLVM makes no code for `aarch64`"});
#endif
}

// The processor with exactly that feature level.
const char* cpu_of(const std::string& level) {
    if (level == "avx512") return "skylake-avx512";
    if (level == "avx2") return "haswell";
    return level == "sse2" ? "x86-64" : "generic";
}

}  // namespace

Result<std::unique_ptr<llvm::TargetMachine>> create_machine(const MachineTarget& target) {
    LEMMA_TRY(Builder builder, target.runs_here ? host() : foreign());
    if (!target.whole_host) {
        builder.setCPU(cpu_of(target.name));
        builder.setFeatures("");
    }
    builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
    auto machine = builder.createTargetMachine();
    if (!machine) {
        return std::unexpected(Error{"there is no code generator for this machine: " +
                                     llvm::toString(machine.takeError())});
    }
    return std::move(*machine);
}

}  // namespace lemma::codegen
