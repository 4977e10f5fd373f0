#include "codegen/llvm/targets.h"

#include <fmt/format.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>

// Not every build of LLVM has it, and no header of ours may include those of one back end.
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

bool has(const std::string& features, const std::string& name) {
    return features.find("+" + name + ",") != std::string::npos || features.ends_with("+" + name);
}

struct Level {
    const char* name;
    const char* cpu;
    const char* features;  // of that processor, those that count
};
constexpr Level kLevels[] = {
    {"avx512", "skylake-avx512", "+avx512f,+avx512vl,+avx2,+fma"},
    {"avx2", "haswell", "+avx2,+fma"},
    {"sse2", "x86-64", ""},
};

bool has_all(const std::string& features, llvm::StringRef wanted) {
    llvm::SmallVector<llvm::StringRef, 4> names;
    wanted.split(names, ',', -1, false);
    return llvm::all_of(names, [&](llvm::StringRef n) { return has(features, n.substr(1).str()); });
}

void describe(MachineTarget& target, const std::string& features) {
    const bool x86 = target.builder.getTargetTriple().isX86();
    target.emit.has_fma = !x86 || has(features, "fma");
    target.schedule.vector_bytes = !x86                                                    ? 16
                                   : has(features, "avx512f") && has(features, "avx512vl") ? 64
                                   : has(features, "avx2")                                 ? 32
                                                                                           : 16;
    target.schedule.registers = !x86 || target.schedule.vector_bytes == 64 ? 32 : 16;
    target.builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
    target.name = fmt::format("{} {} {} {}",
                              target.builder.getTargetTriple().str(),
                              target.builder.getCPU(),
                              target.builder.getFeatures().getString(),
                              target.schedule.vector_bytes);
}

Result<MachineTarget> foreign_target() {
#ifdef LEMMA_LLVM_AARCH64
    static std::once_flag once;
    std::call_once(once, [] {
        LLVMInitializeAArch64TargetInfo();
        LLVMInitializeAArch64Target();
        LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64AsmPrinter();
    });
    MachineTarget target{Builder(llvm::Triple("aarch64-unknown-linux-gnu")), {}, {}, false, {}};
    target.builder.setCPU("generic");
    target.builder.setRelocationModel(llvm::Reloc::PIC_);
    describe(target, "");
    return target;
#else
    return std::unexpected(Error{"this build of LLVM makes no code for `aarch64`"});
#endif
}

}  // namespace

Result<MachineTarget> find_target(const std::string& name) {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
    });
    auto host = Builder::detectHost();
    if (!host) {
        return std::unexpected(
            Error{"there is no code for this processor: " + llvm::toString(host.takeError())});
    }
    const std::string features = host->getFeatures().getString();
    MachineTarget target{std::move(*host), {}, {}, true, {}};
    if (name.empty()) {
        describe(target, features);
        return target;
    }
    const llvm::Triple& triple = target.builder.getTargetTriple();
    if (name == "aarch64") {
        if (!triple.isAArch64()) return foreign_target();
        describe(target, features);
        return target;
    }
    for (const Level& level : kLevels) {
        if (name != level.name) continue;
        if (!triple.isX86() || !has_all(features, level.features)) {
            return std::unexpected(Error{fmt::format("this processor has no `{}`", name)});
        }
        target.builder.setCPU(level.cpu);
        target.builder.setFeatures("");
        describe(target, level.features);
        return target;
    }
    return std::unexpected(Error{fmt::format(
        "there is no target `{}`: they are `avx512`, `avx2`, `sse2` and `aarch64`", name)});
}

}  // namespace lemma::codegen
