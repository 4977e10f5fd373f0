#include "codegen/llvm/compiler.h"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <unordered_set>

#include "codegen/llvm/engine_version.h"
#include "codegen/llvm/object_cache.h"
#include "codegen/llvm/object_maker.h"
#include "codegen/llvm/targets.h"

namespace lemma::codegen {

namespace {

std::unexpected<Error> bad(llvm::Error error) {
    return std::unexpected(Error{"cannot compile: " + llvm::toString(std::move(error))});
}

class LlvmCompiler final : public Compiler {
public:
    explicit LlvmCompiler(MachineTarget target) : target_(std::move(target)) {}

    Result<void> open(const CompilerOptions& options);
    const loop::Target& target() const override { return target_.schedule; }
    Result<std::vector<runtime::KernelFunction>> compile(
        std::span<const loop::Function* const> functions, int threads) override;
    Result<std::string> object(const loop::Function& function, const std::string& name) override;
    const CompilerStats& stats() const override { return stats_; }

private:
    struct Job {
        const loop::Function* function = nullptr;
        ObjectKey key;
        std::string object;
        std::string error;
        bool cached = false;
    };
    static std::string name_of(const ObjectKey& key) { return "k" + key.digest; }
    std::vector<Job> find_jobs(std::span<const loop::Function* const> functions,
                               std::vector<std::string>& names);
    void work(std::vector<Job>& jobs, std::atomic<size_t>& next);
    Result<void> link(std::vector<Job>& jobs);
    Result<std::vector<runtime::KernelFunction>> look_up(const std::vector<std::string>& names);

    MachineTarget target_;
    std::string version_;  // all that decides about the code but the kernel itself
    std::unique_ptr<ObjectCache> cache_;
    std::unique_ptr<llvm::orc::LLJIT> jit_;
    std::unordered_set<std::string> linked_;  // names
    CompilerStats stats_;
};

Result<void> LlvmCompiler::open(const CompilerOptions& options) {
    target_.emit.fast = options.numerics == loop::Numerics::Fast;
    version_ = fmt::format("{} {} {} {}",
                           kEngineVersion,
                           LLVM_VERSION_STRING,
                           target_.name,
                           static_cast<int>(options.numerics));
    stats_.target = target_.builder.getCPU();
    if (!target_.runs_here) return {};
    if (!options.cache_folder.empty()) {
        cache_ = std::make_unique<ObjectCache>(options.cache_folder, options.cache_bytes);
        stats_.cache_trouble = cache_->trouble();
    }
    auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(target_.builder).create();
    if (!jit) return bad(jit.takeError());
    jit_ = std::move(*jit);
    auto library = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
        jit_->getDataLayout().getGlobalPrefix());
    if (!library) return bad(library.takeError());
    jit_->getMainJITDylib().addGenerator(std::move(*library));
    return {};
}

// Functions that are not there yet, each once, and the names of all.
std::vector<LlvmCompiler::Job> LlvmCompiler::find_jobs(
    std::span<const loop::Function* const> functions, std::vector<std::string>& names) {
    std::vector<Job> jobs;
    std::unordered_set<std::string> known = linked_;
    for (const loop::Function* const function : functions) {
        ObjectKey key = object_key(loop::print(*function), version_);
        names.push_back(name_of(key));
        if (known.insert(names.back()).second) {
            jobs.push_back({function, std::move(key), {}, {}, false});
        }
    }
    return jobs;
}

void LlvmCompiler::work(std::vector<Job>& jobs, std::atomic<size_t>& next) {
    std::optional<Result<ObjectMaker>> maker;  // made when something is not in the cache
    for (size_t i = next++; i < jobs.size(); i = next++) {
        Job& job = jobs[i];
        if (cache_) {
            if (auto found = cache_->find(job.key)) {
                job.object = std::move(*found);
                job.cached = true;
                continue;
            }
        }
        if (!maker) maker = ObjectMaker::create(target_);
        auto made = *maker ? (*maker)->make(*job.function, name_of(job.key))
                           : Result<std::string>(std::unexpected(maker->error()));
        if (!made) {
            job.error = made.error().message;
            continue;
        }
        job.object = std::move(*made);
        if (cache_) cache_->add(job.key, job.object);
    }
}

Result<void> LlvmCompiler::link(std::vector<Job>& jobs) {
    for (Job& job : jobs) {
        if (!job.error.empty()) return std::unexpected(Error{job.error});
        const std::string name = name_of(job.key);
        auto added = jit_->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(job.object, name));
        if (added) return bad(std::move(added));
        linked_.insert(name);
        ++(job.cached ? stats_.cached : stats_.kernels);
    }
    return {};
}

// All in one go, for each time costs a round through the session.
Result<std::vector<runtime::KernelFunction>> LlvmCompiler::look_up(
    const std::vector<std::string>& names) {
    llvm::orc::SymbolLookupSet symbols;
    std::vector<llvm::orc::SymbolStringPtr> interned;
    std::unordered_set<std::string> seen;
    for (const std::string& name : names) {
        interned.push_back(jit_->mangleAndIntern(name));
        if (seen.insert(name).second) symbols.add(interned.back());
    }
    auto found = jit_->getExecutionSession().lookup(
        llvm::orc::makeJITDylibSearchOrder(&jit_->getMainJITDylib()), std::move(symbols));
    if (!found) return bad(found.takeError());
    std::vector<runtime::KernelFunction> result;
    for (const llvm::orc::SymbolStringPtr& symbol : interned) {
        result.push_back(
            (*found)[symbol].getAddress().toPtr<void (*)(void* const*, int64_t, int64_t)>());
    }
    return result;
}

Result<std::vector<runtime::KernelFunction>> LlvmCompiler::compile(
    std::span<const loop::Function* const> functions, int threads) {
    if (!jit_) return std::unexpected(Error{"code for another processor cannot run here"});
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::string> names;
    std::vector<Job> jobs = find_jobs(functions, names);
    std::atomic<size_t> next = 0;
    std::vector<std::thread> helpers;
    const size_t count = std::min(static_cast<size_t>(std::max(threads, 1)), jobs.size());
    for (size_t i = 1; i < count; ++i) helpers.emplace_back([&] { work(jobs, next); });
    work(jobs, next);
    for (std::thread& helper : helpers) helper.join();
    if (auto done = link(jobs); !done) return std::unexpected(done.error());
    LEMMA_TRY(auto result, look_up(names));
    stats_.reused += names.size() - jobs.size();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    stats_.seconds += spent.count();
    return result;
}

Result<std::string> LlvmCompiler::object(const loop::Function& function, const std::string& name) {
    LEMMA_TRY(ObjectMaker maker, ObjectMaker::create(target_));
    return maker.make(function, name);
}

}  // namespace

Result<std::unique_ptr<Compiler>> Compiler::create(const CompilerOptions& options) {
    LEMMA_TRY(MachineTarget target, find_target(options.target));
    auto compiler = std::make_unique<LlvmCompiler>(std::move(target));
    if (auto done = compiler->open(options); !done) return std::unexpected(done.error());
    return compiler;
}

}  // namespace lemma::codegen
