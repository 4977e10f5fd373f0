// SPDX-License-Identifier: Apache-2.0
// codegen/compiler.h — compiles loop functions to machine code, in this process or as object files.
// The object cache supplies known kernels; LLVM makes the others (object_maker.h).
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/control.h"
#include "base/result.h"
#include "codegen/code_memory.h"
#include "codegen/machine_target.h"
#include "codegen/object_cache.h"
#include "codegen/object_maker.h"
#include "loop/ir/layout.h"
#include "loop/ir/node.h"
#include "loop/ir/numerics.h"
#include "loop/schedule/schedule.h"
#include "runtime/kernel.h"

namespace lemma::codegen {

struct CompilerOptions {
    // `avx512`, `avx2`, `sse2` or `aarch64`; empty: all features of this processor.
    std::string target;
    loop::Numerics numerics = loop::Numerics::Default;
    // The folder of the object cache; empty: no cache.
    std::string cache_folder;
    int64_t cache_bytes = int64_t{512} << 20;
    // Called after each kernel with the number done and the total, by one thread at a time.
    std::function<void(size_t, size_t)> on_progress;
};

struct CompilerStats {
    size_t kernels = 0;   // compiled
    size_t reused = 0;    // equal to another kernel
    size_t cached = 0;    // found in the cache
    size_t plans = 0;     // found in the cache, with their kernels
    size_t narrowed = 0;  // replaced by a form with a smaller tile
    size_t spilling = 0;  // compiled, but every form spills
    double seconds = 0;
    std::string target;         // short name of the target
    std::string cache_trouble;  // why the cache folder is not used
};

class Compiler {
public:
    // An error if there is no code generator for the target. Without a target in the options, the
    // environment variable LEMMA_TARGET may name one. The compiler owns the code of its kernels.
    static Result<std::unique_ptr<Compiler>> create(CompilerOptions options = {});

    // The same for a target of any_target or device_target; without the cache if the code runs
    // elsewhere.
    static std::unique_ptr<Compiler> create_for(MachineTarget target,
                                                const CompilerOptions& options);

    const MachineTarget& machine() const { return target_; }
    // The features of the target processor.
    const loop::Target& target() const { return target_.schedule; }
    // The code of each kernel, in order. Equal kernels share code. A kernel that needs too many
    // registers becomes its narrower form with the fewest spills. An error if the target is another
    // kind of processor than this one. Reports progress for each kernel, as the stage "compile".
    // `keep` gets the objects.
    struct Objects {
        std::vector<std::string> symbols;            // by kernel
        std::map<std::string, std::string> objects;  // by symbol
        bool complete = false;
    };
    Result<std::vector<runtime::KernelFunction>> compile(
        std::span<loop::ScheduledKernel* const> kernels,
        int threads,
        const RunControl* control = nullptr,
        Objects* keep = nullptr);
    // The objects of kernels for a device, without their code in this process.
    Result<Objects> objects(std::span<loop::ScheduledKernel* const> kernels,
                            int threads,
                            const RunControl* control = nullptr);
    // Loads the code generator, if there is one. Another thread may do it before `compile`.
    void preload();
    // Whether there is a cache, which may keep plans.
    bool keeps_plans() const { return cache_ && cache_->trouble().empty(); }
    // A plan with the code of its kernels, in one file of the cache. `source` is everything that
    // determines the plan. Nothing if the cache does not have it.
    struct StoredPlan {
        std::string plan;
        std::vector<runtime::KernelFunction> kernels;
    };
    std::optional<StoredPlan> find_plan(std::string_view source);
    void store_plan(std::string_view source, std::string_view plan, const Objects& objects);
    // The function as an object file of the target, with the given name.
    Result<std::string> object(const loop::Function& function, const std::string& name) const;
    // The whole model as one object file of the target (object_maker.h). A kernel that needs too
    // many registers becomes a narrower form.
    Result<std::string> object(loop::FrozenPlan& plan, const std::string& name, int threads);
    const CompilerStats& stats() const { return stats_; }

private:
    // The form of a kernel that has code: the kernel itself or a narrower one; and the name of the
    // code.
    struct Form {
        int narrower = 0;
        std::string symbol;
    };
    struct Job {
        const loop::ScheduledKernel* kernel = nullptr;
        ObjectKey key;  // key of the widest form, whichever form is chosen
        Form form;
        std::string object;
        std::string error;
        bool no_maker = false;  // there is no code generator
        bool cached = false;
        bool spills = false;  // every form spills
    };

    Compiler(MachineTarget target, const CompilerOptions& options);
    static std::string name_of(const ObjectKey& key) { return "k" + key.digest; }
    ObjectKey key_of(const loop::Function& function) const;
    ObjectKey key_of_plan(std::string_view source) const;
    void keep_objects(std::vector<Job>& jobs, const std::vector<std::string>& names, Objects& keep);
    std::vector<Job> find_jobs(std::span<loop::ScheduledKernel* const> kernels,
                               std::vector<std::string>& names) const;
    void work(std::vector<Job>& jobs, int threads, const RunControl* control = nullptr);
    void take_jobs(std::vector<Job>& jobs, std::atomic<size_t>& next, const RunControl* control);
    void report(size_t all);
    std::optional<loop::ScheduledKernel> narrower(const Job& job, Form& form);
    bool find(Job& job);
    Result<void> make(Job& job, ObjectMaker& maker);
    bool take_form(loop::ScheduledKernel& kernel, const Form& form);
    Error error_of(const Job& failed, const std::vector<Job>& jobs) const;
    Result<void> count_jobs(const std::vector<Job>& jobs);
    Result<void> link(const std::vector<Job>& jobs);

    MachineTarget target_;
    bool fast_;
    std::string version_;  // everything except the kernel that determines the code
    std::unique_ptr<ObjectCache> cache_;
    CodeMemory code_;
    std::unordered_map<std::string, Form> forms_;  // by kernel name
    std::mutex narrowing_;
    std::function<void(size_t, size_t)> on_progress_;
    std::mutex reporting_;
    size_t done_ = 0;  // jobs of the current call
    bool preloaded_ = false;
    CompilerStats stats_;
};

}  // namespace lemma::codegen
