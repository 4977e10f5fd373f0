// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/llvm_maker.h"

#include <fmt/format.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Scalar.h>

#include <algorithm>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/emit_model.h"
#include "codegen/llvm/half.h"
#include "codegen/llvm/passes.h"
#include "codegen/llvm/ptx_maker.h"
#include "codegen/llvm/spills.h"
#include "codegen/llvm/targets.h"

namespace lemma::codegen {

namespace {

// Kernels arrive scheduled. LLVM only allocates registers and moves invariants out of loops.
llvm::ModulePassManager few_passes(llvm::PassBuilder& passes) {
    llvm::ModulePassManager manager;
    auto parsed = passes.parsePassPipeline(
        manager, "function(sroa,early-cse<memssa>,simplifycfg,loop-mssa(licm),early-cse)");
    if (!parsed) return manager;
    llvm::consumeError(std::move(parsed));
    return llvm::ModulePassManager();
}

// The scheduling model for every target. With the models of older processors, a third of the tiles
// that fit 32 registers spill.
constexpr const char* kTunedFor = "sapphirerapids";

class LlvmMaker final : public ObjectMaker {
public:
    LlvmMaker(const MachineTarget& target, bool fast, std::unique_ptr<llvm::TargetMachine> machine)
        : target_(target),
          options_{.has_fma = target.has_fma,
                   .fast = fast,
                   .is_x86 = machine->getTargetTriple().isX86(),
                   .has_byte_dots = target.has_byte_dots,
                   .has_bf16_dots = target.has_bf16_dots,
                   .has_scale = target.name == "avx512"},
          vector_bits_(target.schedule.vector_bytes * 8),
          tuned_for_(target.name == "avx512" ? kTunedFor : ""),
          machine_(std::move(machine)) {}

    Result<MadeObject> make(const loop::Function& function, const std::string& name) override;
    Result<std::string> make_model(const loop::FrozenPlan& plan, const std::string& name) override;

private:
    // `kernel`: the module is one kernel.
    Result<MadeObject> compile(llvm::Module& module,
                               llvm::TargetMachine& machine,
                               bool kernel) const;

    MachineTarget target_;
    EmitOptions options_;
    int64_t vector_bits_;
    std::string tuned_for_;
    std::unique_ptr<llvm::TargetMachine> machine_;
};

// Selects the functions of LLVM that are protected.
struct PassConfig : llvm::TargetPassConfig {
    using TargetPassConfig::addCoreISelPasses;
};

// The passes of `TargetPassConfig::addISelPasses` that kernels need. Loop strength reduction is not
// among them: it takes a third of the time, and our addresses are in order.
bool add_selection(llvm::LLVMTargetMachine& machine,
                   llvm::legacy::PassManager& passes,
                   llvm::TargetPassConfig& config) {
    passes.add(llvm::createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));
    passes.add(llvm::createPreISelIntrinsicLoweringPass());
    passes.add(llvm::createBasicAAWrapperPass());
    passes.add(llvm::createScalarizeMaskedMemIntrinLegacyPass());
    passes.add(llvm::createExpandReductionsPass());
    config.addCodeGenPrepare();
    config.addISelPrepare();
    return !(config.*(&PassConfig::addCoreISelPasses))();
}

// The passes of `addPassesToEmitFile`, and one that inspects the machine code before it is written.
bool add_passes(llvm::LLVMTargetMachine& machine,
                llvm::legacy::PassManager& passes,
                llvm::raw_pwrite_stream& out,
                bool simple,
                int64_t& spills) {
    auto* const module_info = new llvm::MachineModuleInfoWrapperPass(&machine);
    llvm::TargetPassConfig* const config = machine.createPassConfig(passes);
    passes.add(config);
    passes.add(module_info);
    const bool selected =
        simple ? add_selection(machine, passes, *config) : !config->addISelPasses();
    if (!selected) return false;
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

// Whether the module is a kernel that needs no more than `add_selection`. Strength reduction pays
// in small loops, where it is also fast. AMX tiles need passes of their own.
bool is_simple(const llvm::Module& module, const llvm::Triple& target) {
    constexpr unsigned kSmall = 400;
    unsigned count = 0;
    for (const llvm::Function& function : module) {
        if (function.getName().starts_with("llvm.x86.t")) return false;
        count += function.getInstructionCount();
    }
    return target.isX86() && count > kSmall;
}

void describe(llvm::Module& module, llvm::TargetMachine& machine) {
    module.setDataLayout(machine.createDataLayout());
    module.setTargetTriple(machine.getTargetTriple().str());
}

Result<MadeObject> LlvmMaker::compile(llvm::Module& module,
                                      llvm::TargetMachine& machine,
                                      bool kernel) const {
    for (llvm::Function& made : module) {
        if (made.isDeclaration()) continue;
        made.addFnAttr("target-cpu", machine.getTargetCPU());
        made.addFnAttr("target-features", machine.getTargetFeatureString());
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
    run_passes(module, machine, few_passes);
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream out(bytes);
    llvm::legacy::PassManager emitter;
    MadeObject made;
    auto& own = static_cast<llvm::LLVMTargetMachine&>(machine);
    const bool simple = kernel && is_simple(module, machine.getTargetTriple());
    if (!add_passes(own, emitter, out, simple, made.spills)) {
        return std::unexpected(Error{"there is no object format for this machine"});
    }
    emitter.run(module);
    made.bytes.assign(bytes.data(), bytes.size());
    return made;
}

Result<MadeObject> LlvmMaker::make(const loop::Function& function, const std::string& name) {
    llvm::LLVMContext context;
    llvm::Module module(name, context);
    describe(module, *machine_);
    emit(function, name, options_, module);
    return compile(module, *machine_, true);
}

// ---- Models -------------------------------------------------------------------------------------

// Addresses of code and data within one object are 32-bit distances.
constexpr int64_t kMostBytes = int64_t{2000} << 20;

// Writes the constants to their section, which has zeros.
Result<void> fill_constants(const loop::FrozenPlan& plan, std::string& object) {
    const auto bad = [] { return std::unexpected(Error{"an object file without its constants"}); };
    auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "model"));
    if (!file) {
        llvm::consumeError(file.takeError());
        return bad();
    }
    for (const llvm::object::SectionRef& section : (*file)->sections()) {
        auto name = section.getName();
        auto contents = section.getContents();
        const bool wanted = name && contents && *name == kConstantSection;
        if (!name) llvm::consumeError(name.takeError());
        if (!contents) llvm::consumeError(contents.takeError());
        if (!wanted) continue;
        if (contents->size() < plan.constants.size() + plan.initial_state.size()) return bad();
        const auto at = static_cast<size_t>(contents->data() - object.data());
        std::ranges::copy(plan.constants, object.begin() + static_cast<std::ptrdiff_t>(at));
        std::ranges::copy(plan.initial_state,
                          object.begin() + static_cast<std::ptrdiff_t>(at + plan.constants.size()));
        return {};
    }
    return bad();
}

bool has_halves(const loop::FrozenPlan& plan) {
    return std::ranges::any_of(plan.kernels, [](const loop::FrozenKernel& kernel) {
        return std::ranges::any_of(kernel.kernel.function.buffers, [](const loop::Buffer& buffer) {
            return buffer.dtype == tensor::DType::F16;
        });
    });
}

Result<std::string> LlvmMaker::make_model(const loop::FrozenPlan& plan, const std::string& name) {
    const int64_t data = std::ssize(plan.constants) + 2 * std::ssize(plan.initial_state);
    if (data > kMostBytes || plan.arena_bytes > kMostBytes - data) {
        return std::unexpected(Error{fmt::format(
            "constants and memory of the model have {} MiB, but an object file has room for {}",
            (data >> 20) + (plan.arena_bytes >> 20),
            kMostBytes >> 20)});
    }
    LEMMA_TRY(const std::unique_ptr<llvm::TargetMachine> machine, create_machine(target_, true));
    llvm::LLVMContext context;
    llvm::Module module(name, context);
    describe(module, *machine);
    module.setPICLevel(llvm::PICLevel::BigPIC);
    emit_model(plan, name, options_, module);
    if (has_halves(plan) && machine->getTargetTriple().isX86()) emit_half_conversions(module);
    LEMMA_TRY(MadeObject made, compile(module, *machine, false));
    LEMMA_TRY(fill_constants(plan, made.bytes));
    return std::move(made.bytes);
}

}  // namespace

Result<std::unique_ptr<ObjectMaker>> create_llvm_maker(const MachineTarget& target, bool fast) {
    if (target.schedule.device) return create_ptx_maker(fast);
    LEMMA_TRY(std::unique_ptr<llvm::TargetMachine> machine, create_machine(target));
    return std::make_unique<LlvmMaker>(target, fast, std::move(machine));
}

}  // namespace lemma::codegen
