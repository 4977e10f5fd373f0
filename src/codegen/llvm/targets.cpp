// SPDX-License-Identifier: Apache-2.0
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

// A processor of the other kind.
Result<Builder> foreign([[maybe_unused]] const std::string& name) {
#if defined(LEMMA_LLVM_AARCH64) && !defined(__aarch64__)
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
    return std::unexpected(Error{fmt::format("this build of LLVM makes no code for `{}`", name)});
#endif
}

// The processor with exactly that feature level.
const char* cpu_of(const std::string& level) {
    if (level == "avx512") return "skylake-avx512";
    if (level == "avx2") return "haswell";
#ifdef __aarch64__
    return "generic";
#else
    return level == "aarch64" ? "generic" : "x86-64";
#endif
}

// Whether the processor is of the same kind as this one; it may have other features.
bool is_related(const MachineTarget& target) {
#ifdef __aarch64__
    return target.name == "aarch64" || target.name == "generic";
#else
    return target.name != "aarch64";
#endif
}

}  // namespace

Result<std::unique_ptr<llvm::TargetMachine>> create_machine(const MachineTarget& target,
                                                            bool shared) {
    LEMMA_TRY(Builder builder, is_related(target) ? host() : foreign(target.name));
    if (!target.whole_host) {
        builder.setCPU(cpu_of(target.name));
        builder.setFeatures("");
    }
    builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
    if (shared) {
        builder.setRelocationModel(llvm::Reloc::PIC_);
        builder.setCodeModel(llvm::CodeModel::Small);
    }
    auto machine = builder.createTargetMachine();
    if (!machine) {
        return std::unexpected(Error{"there is no code generator for this machine: " +
                                     llvm::toString(machine.takeError())});
    }
    return std::move(*machine);
}

}  // namespace lemma::codegen
