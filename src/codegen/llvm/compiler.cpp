#include "codegen/llvm/compiler.h"

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "codegen/llvm/emit.h"

namespace lemma::codegen {

namespace {

using Object = llvm::SmallVector<char, 0>;

std::unexpected<Error> bad(llvm::Error error) {
    return std::unexpected(Error{"cannot compile: " + llvm::toString(std::move(error))});
}

class LlvmCompiler final : public Compiler {
public:
    Result<void> open();
    const loop::Target& target() const override { return target_; }
    Result<std::vector<runtime::KernelFunction>> compile(
        std::span<const loop::Function* const> functions, int threads) override;
    const CompilerStats& stats() const override { return stats_; }

private:
    struct Job {
        const loop::Function* function = nullptr;
        std::string name;
        Object object;
        std::string error;
    };
    void work(std::vector<Job>& jobs, std::atomic<size_t>& next);
    void make(Job& job, llvm::TargetMachine& machine);
    void optimise(llvm::Module& module, llvm::TargetMachine& machine);

    std::optional<llvm::orc::JITTargetMachineBuilder> builder_;
    std::unique_ptr<llvm::orc::LLJIT> jit_;
    loop::Target target_;
    EmitOptions emit_;
    std::unordered_map<std::string, std::string> names_;  // by the text of the function
    CompilerStats stats_;
};

Result<void> LlvmCompiler::open() {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
    });
    auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
    if (!builder) return bad(builder.takeError());
    builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
    const std::string features = builder->getFeatures().getString();
    const auto has = [&](const std::string& name) {
        return features.find("+" + name + ",") != std::string::npos ||
               features.ends_with("+" + name);
    };
    const bool x86 = builder->getTargetTriple().isX86();
    emit_.has_fma = !x86 || has("fma");
    target_.vector_bytes = !x86                                ? 16
                           : has("avx512f") && has("avx512vl") ? 64
                           : has("avx2")                       ? 32
                                                               : 16;
    target_.registers = !x86 || target_.vector_bytes == 64 ? 32 : 16;
    builder_ = std::move(*builder);
    auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*builder_).create();
    if (!jit) return bad(jit.takeError());
    jit_ = std::move(*jit);
    auto library = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
        jit_->getDataLayout().getGlobalPrefix());
    if (!library) return bad(library.takeError());
    jit_->getMainJITDylib().addGenerator(std::move(*library));
    return {};
}

// Kernels come in the form that they are to have; only registers and what loops repeat is left.
void LlvmCompiler::optimise(llvm::Module& module, llvm::TargetMachine& machine) {
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

void LlvmCompiler::make(Job& job, llvm::TargetMachine& machine) {
    llvm::LLVMContext context;
    llvm::Module module(job.name, context);
    module.setDataLayout(machine.createDataLayout());
    module.setTargetTriple(machine.getTargetTriple().str());
    emit(*job.function, job.name, emit_, module);
    for (llvm::Function& function : module) {
        if (function.isDeclaration()) continue;
        function.addFnAttr("target-cpu", machine.getTargetCPU());
        function.addFnAttr("target-features", machine.getTargetFeatureString());
        function.addFnAttr("prefer-vector-width", fmt::format("{}", target_.vector_bytes * 8));
        function.addFnAttr("no-trapping-math", "true");
    }
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    if (llvm::verifyModule(module, &stream)) {
        job.error = "a kernel that is not valid: " + problem;
        return;
    }
    optimise(module, machine);
    llvm::raw_svector_ostream out(job.object);
    llvm::legacy::PassManager emitter;
    if (machine.addPassesToEmitFile(emitter, out, nullptr, llvm::CodeGenFileType::ObjectFile)) {
        job.error = "there is no object format for this machine";
        return;
    }
    emitter.run(module);
}

void LlvmCompiler::work(std::vector<Job>& jobs, std::atomic<size_t>& next) {
    auto machine = builder_->createTargetMachine();
    for (size_t i = next++; i < jobs.size(); i = next++) {
        if (machine) {
            make(jobs[i], **machine);
        } else {
            jobs[i].error = "there is no code generator for this machine";
        }
    }
    if (!machine) llvm::consumeError(machine.takeError());
}

Result<std::vector<runtime::KernelFunction>> LlvmCompiler::compile(
    std::span<const loop::Function* const> functions, int threads) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<Job> jobs;
    std::vector<std::string> names;
    for (const loop::Function* const function : functions) {
        const auto [known, fresh] = names_.emplace(loop::print(*function), "");
        if (fresh) {
            known->second = fmt::format("k{}", names_.size());
            jobs.push_back({function, known->second, {}, {}});
        }
        names.push_back(known->second);
    }
    std::atomic<size_t> next = 0;
    std::vector<std::thread> helpers;
    const size_t count = std::min(static_cast<size_t>(std::max(threads, 1)), jobs.size());
    for (size_t i = 1; i < count; ++i) helpers.emplace_back([&] { work(jobs, next); });
    work(jobs, next);
    for (std::thread& helper : helpers) helper.join();
    for (Job& job : jobs) {
        if (!job.error.empty()) return std::unexpected(Error{job.error});
        auto added = jit_->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(
            llvm::StringRef(job.object.data(), job.object.size()), job.name));
        if (added) return bad(std::move(added));
    }
    std::vector<runtime::KernelFunction> result;
    for (const std::string& name : names) {
        auto found = jit_->lookup(name);
        if (!found) return bad(found.takeError());
        result.push_back(found->toPtr<void (*)(void* const*, int64_t, int64_t)>());
    }
    stats_.kernels += jobs.size();
    stats_.reused += names.size() - jobs.size();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    stats_.seconds += spent.count();
    return result;
}

}  // namespace

Result<std::unique_ptr<Compiler>> Compiler::create(std::string) {
    auto compiler = std::make_unique<LlvmCompiler>();
    if (auto done = compiler->open(); !done) return std::unexpected(done.error());
    return compiler;
}

}  // namespace lemma::codegen
