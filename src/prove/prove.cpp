// SPDX-License-Identifier: Apache-2.0
#include "prove/prove.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "base/sha256.h"
#include "codegen/object_cache.h"
#include "prove/process.h"
#include "prove/wp_output.h"
#include "tensor/files/file_io.h"

namespace lemma::prove {

namespace {

constexpr int64_t kCacheBytes = int64_t{64} << 20;
constexpr auto kShowEvery = std::chrono::milliseconds(200);

// The options of Frama-C that decide what a proof means, and with what.
std::vector<std::string> wp_arguments(const Provers& provers) {
    return {"-wp",
            "-wp-rte",
            // NaN and infinity are ordinary values.
            "-warn-special-float",
            "none",
            // Contracts have no real arithmetic, only names such as sx_add_of.
            "-wp-model",
            "Typed+real",
            "-wp-prover",
            fmt::format("{}", fmt::join(provers.provers, ",")),
            "-wp-par",
            "1",
            "-wp-cache",
            "none",
            // Otherwise goals are lost if an extent is 1 or 2.
            "-wp-no-simplify-is-cint",
            // The proof does not depend on the elements of constants.
            "-wp-no-init-const"};
}

// Goals are named by the canonical function: `typed_real_n0_relu_ensures`.
std::string goal_in_model(std::string goal, const FunctionText& function) {
    const std::string prefix = "typed_real_";
    if (goal.starts_with(prefix)) goal.erase(0, prefix.size());
    if (goal.starts_with(function.canonical + "_")) {
        goal = function.name + goal.substr(function.canonical.size());
    }
    return goal;
}

std::string trouble_of(const ProcessResult& run, const WpOutput& output, int64_t limit) {
    if (run.stopped) return "interrupted";
    if (run.timed_out) return fmt::format("Frama-C took more than {} s (--limit)", limit);
    if (!output.errors.empty()) return fmt::format("{}", fmt::join(output.errors, "\n    "));
    if (run.status != 0) {
        return fmt::format("Frama-C ended with status {}:\n{}", run.status, run.output);
    }
    if (!output.complete || output.goals == 0) {
        return fmt::format("Frama-C reported no goals:\n{}", run.output);
    }
    return {};
}

// Functions of the same text share a task.
struct Task {
    const FunctionText* function = nullptr;
    std::string digest;
    FunctionProof proof;
};

class Prover {
public:
    Prover(const Provers& provers, const ProveOptions& options)
        : provers_(provers), options_(options), arguments_(wp_arguments(provers)) {
        if (options.cache_folder.empty()) return;
        cache_ = std::make_unique<codegen::ObjectCache>(options.cache_folder, kCacheBytes);
    }

    std::string cache_trouble() const { return cache_ ? cache_->trouble() : std::string(); }
    // The time limit has no part in it: a proof is a proof.
    std::string digest(const FunctionText& function) const {
        return sha256(fmt::format("{}\n{}\n{}",
                                  fmt::join(provers_.versions, "\n"),
                                  fmt::join(arguments_, " "),
                                  function.text));
    }
    // From the cache.
    bool recall(Task& task) {
        if (options_.force || !cache_) return false;
        const auto found = cache_->find({.digest = task.digest});
        const auto proof = found ? decode_proof(*found) : std::nullopt;
        if (!proof) return false;
        task.proof = *proof;
        task.proof.cached = true;
        return true;
    }
    Result<void> write(const Task& task) const;
    void prove(Task& task);
    std::vector<std::string> command() const;

private:
    std::string path(const Task& task, const char* suffix) const {
        return fmt::format("{}/{}{}", options_.folder, task.function->name, suffix);
    }
    Result<ProcessResult> run(const Task& task) const;

    const Provers& provers_;
    const ProveOptions& options_;
    std::vector<std::string> arguments_;
    std::unique_ptr<codegen::ObjectCache> cache_;  // may be missing
};

// The task as a file: also for those who want to read what a kept proof is about.
Result<void> Prover::write(const Task& task) const {
    return tensor::write_file(path(task, ".c"), task.function->text);
}

std::vector<std::string> Prover::command() const {
    std::vector<std::string> words = {provers_.frama_c};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    words.insert(words.end(), {"-wp-timeout", std::to_string(options_.timeout)});
    return words;
}

Result<ProcessResult> Prover::run(const Task& task) const {
    std::vector<std::string> words = command();
    words.push_back(path(task, ".c"));
    LEMMA_TRY(ProcessResult done,
              run_process(words,
                          {.environment = {"WHY3CONFIG=" + provers_.why3_config,
                                           "FRAMAC_WP_CACHE=none",
                                           "LC_ALL=C"},
                           .seconds = static_cast<double>(options_.limit)}));
    LEMMA_TRY(tensor::write_file(path(task, ".log"), done.output));
    return done;
}

void Prover::prove(Task& task) {
    FunctionProof& proof = task.proof;
    const auto done = run(task);
    if (!done) {
        proof.trouble = done.error().message;
        return;
    }
    const WpOutput output = read_wp_output(done->output);
    proof.goals = output.goals;
    proof.proved = output.proved;
    proof.by = output.by;
    proof.seconds = done->seconds;
    proof.slowest = output.slowest;
    proof.warnings = output.warnings;
    proof.unproved = output.unproved;
    proof.trouble = trouble_of(*done, output, options_.limit);
    if (proof.good() && cache_) cache_->add({.digest = task.digest}, encode_proof(proof));
}

// The tasks, done by several threads; this one shows how far they are.
class Pool {
public:
    Pool(Prover& prover, std::vector<Task*> open) : prover_(prover), open_(std::move(open)) {}

    void run(int64_t jobs, Progress progress, const std::function<void(const Progress&)>& show) {
        std::vector<std::jthread> threads;
        const auto count = std::min<size_t>(static_cast<size_t>(jobs), open_.size());
        for (size_t i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
        const size_t before = progress.done;
        std::unique_lock lock(mutex_);
        while (done_ < open_.size()) {
            changed_.wait_for(lock, kShowEvery);
            progress.done = before + done_;
            progress.running = fmt::format("{}", fmt::join(running_, ", "));
            lock.unlock();
            if (show) show(progress);
            lock.lock();
        }
    }

private:
    void work() {
        std::unique_lock lock(mutex_);
        while (next_ < open_.size()) {
            Task& task = *open_[next_++];
            running_.push_back(task.function->name);
            lock.unlock();
            if (Interrupts::arrived()) {
                task.proof.trouble = "interrupted";
            } else {
                prover_.prove(task);
            }
            lock.lock();
            std::erase(running_, task.function->name);
            ++done_;
            changed_.notify_one();
        }
    }

    Prover& prover_;
    std::vector<Task*> open_;
    std::mutex mutex_;
    std::condition_variable changed_;
    size_t next_ = 0, done_ = 0;
    std::vector<std::string> running_;
};

FunctionProof result_of(const Task& task, const FunctionText& function) {
    FunctionProof proof = task.proof;
    proof.name = function.name;
    proof.digest = task.digest;
    if (task.function != &function) proof.same_as = task.function->name;
    for (std::string& goal : proof.unproved) goal = goal_in_model(std::move(goal), function);
    return proof;
}

}  // namespace

Result<Proofs> prove_functions(const std::vector<FunctionText>& functions,
                               const Provers& provers,
                               const ProveOptions& options,
                               const std::function<void(const Progress&)>& show) {
    LEMMA_TRY(tensor::make_folder(options.folder));
    Prover prover(provers, options);
    std::map<std::string, size_t> by_digest;
    std::vector<size_t> task_of;
    std::vector<Task> tasks;
    for (const FunctionText& function : functions) {
        std::string digest = prover.digest(function);
        const auto [found, fresh] = by_digest.emplace(digest, tasks.size());
        if (fresh) {
            tasks.push_back({.function = &function, .digest = std::move(digest), .proof = {}});
        }
        task_of.push_back(found->second);
    }
    std::vector<Task*> open;
    for (Task& task : tasks) {
        LEMMA_TRY(prover.write(task));
        if (!prover.recall(task)) open.push_back(&task);
    }
    // Long texts take long; they start first, so that no thread is left alone with one.
    std::ranges::stable_sort(
        open, std::greater(), [](const Task* task) { return task->function->text.size(); });
    Progress progress{.done = tasks.size() - open.size(), .all = tasks.size(), .running = {}};
    Pool(prover, open).run(options.jobs, progress, show);
    Proofs proofs{
        .functions = {}, .command = prover.command(), .cache_trouble = prover.cache_trouble()};
    for (size_t i = 0; i < functions.size(); ++i) {
        proofs.functions.push_back(result_of(tasks[task_of[i]], functions[i]));
    }
    return proofs;
}

}  // namespace lemma::prove
