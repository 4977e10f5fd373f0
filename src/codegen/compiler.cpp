// SPDX-License-Identifier: Apache-2.0
#include "codegen/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <unordered_set>

#include "base/archive.h"
#include "codegen/engine_version.h"
#include "loop/schedule/share.h"

namespace lemma::codegen {

Compiler::Compiler(MachineTarget target, const CompilerOptions& options)
    : target_(std::move(target)),
      fast_(options.numerics == loop::Numerics::Fast),
      version_(fmt::format(
          "{} {} {}", kEngineVersion, target_.identity, static_cast<int>(options.numerics))) {
    stats_.target = target_.name;
    on_progress_ = options.on_progress;
    const bool used = target_.runs_here || target_.schedule.device;
    if (!used || options.cache_folder.empty()) return;
    cache_ = std::make_unique<ObjectCache>(options.cache_folder, options.cache_bytes);
    stats_.cache_trouble = cache_->trouble();
}

Result<std::unique_ptr<Compiler>> Compiler::create(CompilerOptions options) {
    const char* const named = std::getenv("LEMMA_TARGET");
    if (options.target.empty() && named) options.target = named;
    LEMMA_TRY(MachineTarget target, find_target(options.target));
    return std::unique_ptr<Compiler>(new Compiler(std::move(target), options));
}

std::unique_ptr<Compiler> Compiler::create_for(MachineTarget target,
                                               const CompilerOptions& options) {
    return std::unique_ptr<Compiler>(new Compiler(std::move(target), options));
}

void Compiler::preload() { preloaded_ = load_object_maker(target_, fast_).has_value(); }

ObjectKey Compiler::key_of(const loop::Function& function) const {
    return object_key(loop::code_bytes(function), version_);
}

// Jobs for the kernels without code, each once, and the names of all kernels.
std::vector<Compiler::Job> Compiler::find_jobs(std::span<loop::ScheduledKernel* const> kernels,
                                               std::vector<std::string>& names) const {
    std::vector<Job> jobs;
    std::unordered_set<std::string> known;
    for (const loop::ScheduledKernel* const kernel : kernels) {
        ObjectKey key = key_of(kernel->function);
        names.push_back(name_of(key));
        if (forms_.contains(names.back()) || !known.insert(names.back()).second) continue;
        jobs.push_back({kernel, std::move(key), {0, names.back()}, {}, {}, false, false, false});
    }
    return jobs;
}

// ---- Making -------------------------------------------------------------------------------------

// The kernel with the next narrower tile; `form` then describes it, with a unique name for its
// code.
std::optional<loop::ScheduledKernel> Compiler::narrower(const Job& job, Form& form) {
    constexpr int kMost = 12;
    if (!job.kernel->narrower || form.narrower == kMost) return std::nullopt;
    std::optional<loop::ScheduledKernel> made;
    {
        const std::lock_guard lock(narrowing_);
        made = job.kernel->narrower(++form.narrower);
    }
    if (made) form.symbol = name_of(job.key) + "." + key_of(made->function).digest;
    return made;
}

// The object is stored under the name of the kernel and records its form.
bool Compiler::find(Job& job) {
    if (!cache_) return false;
    auto found = cache_->find(job.key);
    if (!found) return false;
    Form form = job.form;
    // A text ends no name with a zero.
    const std::string end(target_.schedule.device ? 0 : 1, '\0');
    while (!found->contains(form.symbol + end)) {
        if (!narrower(job, form)) return false;
    }
    job.form = std::move(form);
    job.object = std::move(*found);
    return true;
}

// Makes the first form without spills, else the form with the fewest.
Result<void> Compiler::make(Job& job, ObjectMaker& maker) {
    LEMMA_TRY(MadeObject best, maker.make(job.kernel->function, job.form.symbol));
    Form form = job.form;
    while (best.spills > 0) {
        const auto smaller = narrower(job, form);
        if (!smaller) break;
        LEMMA_TRY(MadeObject made, maker.make(smaller->function, form.symbol));
        if (made.spills >= best.spills) continue;
        best = std::move(made);
        job.form = form;
    }
    job.spills = best.spills > 0 && job.kernel->narrower;
    job.object = std::move(best.bytes);
    if (cache_) cache_->add(job.key, job.object);
    return {};
}

// Turns the kernel into the form that has code.
bool Compiler::take_form(loop::ScheduledKernel& kernel, const Form& form) {
    if (form.narrower == 0) return true;
    auto smaller = kernel.narrower ? kernel.narrower(form.narrower) : std::nullopt;
    if (!smaller || !form.symbol.ends_with(key_of(smaller->function).digest)) return false;
    kernel = std::move(*smaller);
    ++stats_.narrowed;
    return true;
}

// The objects of the jobs, in parallel.
void Compiler::work(std::vector<Job>& jobs, int threads, const RunControl* control) {
    done_ = 0;
    // The largest first, so that no thread is left alone with one at the end.
    std::ranges::stable_sort(jobs, std::ranges::greater(), [](const Job& job) {
        return job.kernel->function.exprs.size();
    });
    std::atomic<size_t> next = 0;
    std::vector<std::thread> helpers;
    const size_t count = std::min(static_cast<size_t>(std::max(threads, 1)), jobs.size());
    for (size_t i = 1; i < count; ++i)
        helpers.emplace_back([&] { take_jobs(jobs, next, nullptr); });
    take_jobs(jobs, next, control);
    for (std::thread& helper : helpers) helper.join();
}

// With a control, this thread reports for all, and ends the work if the call should end.
void Compiler::take_jobs(std::vector<Job>& jobs,
                         std::atomic<size_t>& next,
                         const RunControl* control) {
    std::optional<Result<std::unique_ptr<ObjectMaker>>> maker;  // loaded on a cache miss
    for (size_t i = next++; i < jobs.size(); i = next++) {
        Job& job = jobs[i];
        if (control && control->stop_after("compile", i, jobs.size())) {
            next = jobs.size();
            return;
        }
        job.cached = find(job);
        if (job.cached) {
            report(jobs.size());
            continue;
        }
        if (!maker) maker = load_object_maker(target_, fast_);
        if (!*maker) {
            job.no_maker = true;
            job.error = maker->error().message;
        } else if (const auto made = make(job, ***maker); !made) {
            job.error = made.error().message;
        }
        report(jobs.size());
    }
}

void Compiler::report(size_t all) {
    if (!on_progress_) return;
    const std::lock_guard lock(reporting_);
    on_progress_(++done_, all);
}

// Without a compiler, cached kernels are enough; the error names the missing ones.
Error Compiler::error_of(const Job& failed, const std::vector<Job>& jobs) const {
    if (!failed.no_maker || !cache_) return Error{failed.error};
    const auto missing = std::ranges::count_if(jobs, [](const Job& job) { return job.no_maker; });
    return Error{fmt::format("{} of {} kernels are not in the cache `{}`, and Lemma {}",
                             missing,
                             jobs.size(),
                             cache_->folder(),
                             failed.error)};
}

Result<void> Compiler::count_jobs(const std::vector<Job>& jobs) {
    for (const Job& job : jobs) {
        if (!job.error.empty()) return std::unexpected(error_of(job, jobs));
        ++(job.cached ? stats_.cached : stats_.kernels);
        if (job.spills) ++stats_.spilling;
    }
    return {};
}

Result<void> Compiler::link(const std::vector<Job>& jobs) {
    LEMMA_TRY(count_jobs(jobs));
    std::vector<std::string_view> objects;
    for (const Job& job : jobs) objects.emplace_back(job.object);
    return code_.add(objects);
}

Result<std::vector<runtime::KernelFunction>> Compiler::compile(
    std::span<loop::ScheduledKernel* const> kernels,
    int threads,
    const RunControl* control,
    Objects* keep) {
    if (!target_.runs_here) {
        return std::unexpected(Error{"code for another processor cannot run here"});
    }
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::string> names;
    std::vector<Job> jobs = find_jobs(kernels, names);
    const size_t wanted = jobs.size();
    work(jobs, threads, control);
    LEMMA_TRY(go_on(control));
    const size_t before = stats_.kernels;
    LEMMA_TRY(link(jobs));
    for (const Job& job : jobs) forms_[name_of(job.key)] = job.form;
    if (keep) keep_objects(jobs, names, *keep);
    jobs.clear();
    if (stats_.kernels > before || preloaded_) rest_object_makers();
    preloaded_ = false;
    std::vector<runtime::KernelFunction> result;
    for (size_t i = 0; i < names.size(); ++i) {
        const Form& form = forms_.at(names[i]);
        void* const found = code_.find(form.symbol);
        if (!found || !take_form(*kernels[i], form)) {
            return std::unexpected(Error{"a compiled object has no kernel"});
        }
        result.push_back(reinterpret_cast<runtime::KernelFunction>(found));
    }
    stats_.reused += names.size() - wanted;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    stats_.seconds += spent.count();
    return result;
}

Result<Compiler::Objects> Compiler::objects(std::span<loop::ScheduledKernel* const> kernels,
                                            int threads,
                                            const RunControl* control) {
    const auto begin = std::chrono::steady_clock::now();
    Objects made;
    std::vector<Job> jobs = find_jobs(kernels, made.symbols);
    stats_.reused += kernels.size() - jobs.size();
    work(jobs, threads, control);
    LEMMA_TRY(go_on(control));
    LEMMA_TRY(count_jobs(jobs));
    for (Job& job : jobs) made.objects[job.form.symbol] = std::move(job.object);
    made.complete = true;
    rest_object_makers();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    stats_.seconds += spent.count();
    return made;
}

// ---- Plans --------------------------------------------------------------------------------------

ObjectKey Compiler::key_of_plan(std::string_view source) const {
    return object_key(source, fmt::format("{} {}", version_, kPlanVersion));
}

void Compiler::keep_objects(std::vector<Job>& jobs,
                            const std::vector<std::string>& names,
                            Objects& keep) {
    for (Job& job : jobs) keep.objects[job.form.symbol] = std::move(job.object);
    keep.complete = true;
    for (const std::string& name : names) {
        const Form& form = forms_.at(name);
        keep.symbols.push_back(form.symbol);
        if (keep.objects.contains(form.symbol)) continue;
        // An earlier call has compiled it.
        auto found = cache_ ? cache_->find({name.substr(1)}) : std::nullopt;
        keep.complete &= found.has_value();
        if (found) keep.objects[form.symbol] = std::move(*found);
    }
}

std::optional<Compiler::StoredPlan> Compiler::find_plan(std::string_view source) {
    if (!keeps_plans() || !target_.runs_here) return std::nullopt;
    const auto begin = std::chrono::steady_clock::now();
    const auto entry = cache_->find(key_of_plan(source));
    if (!entry) return std::nullopt;
    StoredPlan stored;
    std::vector<std::string> symbols;
    std::vector<std::string_view> objects;
    std::vector<uint64_t> used;  // by kernel
    ArchiveReader reader(*entry);
    reader(stored.plan, symbols, objects, used);
    if (!reader.good() || !reader.at_end() || symbols.size() != objects.size()) return std::nullopt;
    if (!code_.add(objects)) return std::nullopt;
    for (const uint64_t which : used) {
        void* const found = which < symbols.size() ? code_.find(symbols[which]) : nullptr;
        if (!found) return std::nullopt;
        stored.kernels.push_back(reinterpret_cast<runtime::KernelFunction>(found));
    }
    ++stats_.plans;
    stats_.cached += objects.size();
    stats_.reused += used.size() - std::min(used.size(), objects.size());
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    stats_.seconds += spent.count();
    return stored;
}

void Compiler::store_plan(std::string_view source, std::string_view plan, const Objects& objects) {
    if (!keeps_plans() || !objects.complete) return;
    std::vector<std::string> symbols;
    std::vector<std::string_view> bytes;
    std::unordered_map<std::string_view, uint64_t> positions;
    for (const auto& [symbol, object] : objects.objects) {
        positions.emplace(symbol, symbols.size());
        symbols.push_back(symbol);
        bytes.emplace_back(object);
    }
    std::vector<uint64_t> used;
    for (const std::string& symbol : objects.symbols) used.push_back(positions.at(symbol));
    ArchiveWriter writer;
    writer(plan, symbols, bytes, used);
    cache_->add(key_of_plan(source), writer.bytes);
}

Result<std::string> Compiler::object(const loop::Function& function,
                                     const std::string& name) const {
    LEMMA_TRY(const std::unique_ptr<ObjectMaker> maker, load_object_maker(target_, fast_));
    LEMMA_TRY(MadeObject made, maker->make(function, name));
    return std::move(made.bytes);
}

// Each kernel is compiled by itself first, which shows whether it spills.
Result<std::string> Compiler::object(loop::FrozenPlan& plan, const std::string& name, int threads) {
    std::vector<loop::ScheduledKernel*> kernels;
    for (loop::FrozenKernel& kernel : plan.kernels) kernels.push_back(&kernel.kernel);
    std::vector<std::string> names;
    std::vector<Job> jobs = find_jobs(kernels, names);
    std::erase_if(jobs, [](const Job& job) { return !job.kernel->narrower; });
    work(jobs, threads);
    LEMMA_TRY(count_jobs(jobs));
    std::unordered_map<std::string, Form> forms;
    for (Job& job : jobs) forms[name_of(job.key)] = std::move(job.form);
    for (size_t i = 0; i < names.size(); ++i) {
        const auto fresh = forms.find(names[i]);
        const auto known = forms_.find(names[i]);
        const Form form = fresh != forms.end()    ? fresh->second
                          : known != forms_.end() ? known->second
                                                  : Form();
        if (!take_form(*kernels[i], form)) {
            return std::unexpected(Error{"a compiled object has no kernel"});
        }
    }
    LEMMA_TRY(const std::unique_ptr<ObjectMaker> maker, load_object_maker(target_, fast_));
    return maker->make_model(plan, name);
}

}  // namespace lemma::codegen
