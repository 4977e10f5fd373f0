#include "codegen/compiler.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <unordered_set>

#include "codegen/engine_version.h"
#include "codegen/object_maker.h"

namespace lemma::codegen {

Compiler::Compiler(MachineTarget target, const CompilerOptions& options)
    : target_(std::move(target)),
      fast_(options.numerics == loop::Numerics::Fast),
      version_(fmt::format(
          "{} {} {}", kEngineVersion, target_.identity, static_cast<int>(options.numerics))) {
    stats_.target = target_.name;
    if (!target_.runs_here || options.cache_folder.empty()) return;
    cache_ = std::make_unique<ObjectCache>(options.cache_folder, options.cache_bytes);
    stats_.cache_trouble = cache_->trouble();
}

Result<std::unique_ptr<Compiler>> Compiler::create(CompilerOptions options) {
    const char* const named = std::getenv("LEMMA_TARGET");
    if (options.target.empty() && named) options.target = named;
    LEMMA_TRY(MachineTarget target, find_target(options.target));
    if (auto found = find_object_makers(); !found) return std::unexpected(found.error());
    return std::unique_ptr<Compiler>(new Compiler(std::move(target), options));
}

// Functions that are not there yet, each once, and the names of all.
std::vector<Compiler::Job> Compiler::find_jobs(std::span<const loop::Function* const> functions,
                                               std::vector<std::string>& names) const {
    std::vector<Job> jobs;
    std::unordered_set<std::string> known;
    for (const loop::Function* const function : functions) {
        ObjectKey key = object_key(loop::print(*function), version_);
        names.push_back(name_of(key));
        if (code_.find(names.back()) || !known.insert(names.back()).second) continue;
        jobs.push_back({function, std::move(key), {}, {}, false});
    }
    return jobs;
}

void Compiler::work(std::vector<Job>& jobs, std::atomic<size_t>& next) {
    std::optional<Result<std::unique_ptr<ObjectMaker>>> maker;  // when one is not in the cache
    for (size_t i = next++; i < jobs.size(); i = next++) {
        Job& job = jobs[i];
        if (cache_) {
            if (auto found = cache_->find(job.key)) {
                job.object = std::move(*found);
                job.cached = true;
                continue;
            }
        }
        if (!maker) maker = load_object_maker(target_, fast_);
        auto made = *maker ? (**maker)->make(*job.function, name_of(job.key))
                           : Result<std::string>(std::unexpected(maker->error()));
        if (!made) {
            job.error = made.error().message;
            continue;
        }
        job.object = std::move(*made);
        if (cache_) cache_->add(job.key, job.object);
    }
}

Result<void> Compiler::link(const std::vector<Job>& jobs) {
    std::vector<std::string_view> objects;
    for (const Job& job : jobs) {
        if (!job.error.empty()) return std::unexpected(Error{job.error});
        objects.emplace_back(job.object);
        ++(job.cached ? stats_.cached : stats_.kernels);
    }
    return code_.add(objects);
}

Result<std::vector<runtime::KernelFunction>> Compiler::compile(
    std::span<const loop::Function* const> functions, int threads) {
    if (!target_.runs_here) {
        return std::unexpected(Error{"code for another processor cannot run here"});
    }
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::string> names;
    std::vector<Job> jobs = find_jobs(functions, names);
    const size_t wanted = jobs.size();
    std::atomic<size_t> next = 0;
    std::vector<std::thread> helpers;
    const size_t count = std::min(static_cast<size_t>(std::max(threads, 1)), jobs.size());
    for (size_t i = 1; i < count; ++i) helpers.emplace_back([&] { work(jobs, next); });
    work(jobs, next);
    for (std::thread& helper : helpers) helper.join();
    const size_t before = stats_.kernels;
    if (auto done = link(jobs); !done) return std::unexpected(done.error());
    jobs.clear();
    if (stats_.kernels > before) rest_object_makers();
    std::vector<runtime::KernelFunction> result;
    for (const std::string& name : names) {
        void* const found = code_.find(name);
        if (!found) return std::unexpected(Error{"a compiled object has no kernel"});
        result.push_back(reinterpret_cast<runtime::KernelFunction>(found));
    }
    stats_.reused += names.size() - wanted;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    stats_.seconds += spent.count();
    return result;
}

Result<std::string> Compiler::object(const loop::Function& function,
                                     const std::string& name) const {
    LEMMA_TRY(const std::unique_ptr<ObjectMaker> maker, load_object_maker(target_, fast_));
    return maker->make(function, name);
}

}  // namespace lemma::codegen
