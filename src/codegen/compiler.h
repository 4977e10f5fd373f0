// codegen/compiler.h — loop functions to machine code, in this process or as object files. What was
// made before is found on disk; the rest is made by LLVM (object_maker.h).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

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
    // `avx512`, `avx2`, `sse2`, or `aarch64`; empty: all that this processor has.
    std::string target;
    loop::Numerics numerics = loop::Numerics::Default;
    // Objects are kept in the folder and found there again; empty: nowhere.
    std::string cache_folder;
    int64_t cache_bytes = int64_t{512} << 20;
};

struct CompilerStats {
    size_t kernels = 0;   // made
    size_t reused = 0;    // the same as another one
    size_t cached = 0;    // found on disk
    size_t narrowed = 0;  // became a form with a smaller tile
    size_t spilling = 0;  // made, with a tile that spills in all forms
    double seconds = 0;
    std::string target;         // its short name
    std::string cache_trouble;  // why a folder is not used
};

class Compiler {
public:
    // An error when there is no code for the target; where options name none, the variable
    // LEMMA_TARGET of the environment may. Kernels go with the compiler.
    static Result<std::unique_ptr<Compiler>> create(CompilerOptions options = {});

    // What the processor has.
    const loop::Target& target() const { return target_.schedule; }
    // The code of each kernel, in order. Equal kernels share theirs. One that needs more registers
    // than there are becomes its narrower form with the least spills. An error when the target is
    // another kind of processor than this one.
    Result<std::vector<runtime::KernelFunction>> compile(
        std::span<loop::ScheduledKernel* const> kernels, int threads);
    // The function as an object file of the target, under the name.
    Result<std::string> object(const loop::Function& function, const std::string& name) const;
    const CompilerStats& stats() const { return stats_; }

private:
    // Which form of a kernel there is code for: the kernel itself, or how much narrower; and the
    // name of the code.
    struct Form {
        int narrower = 0;
        std::string symbol;
    };
    struct Job {
        const loop::ScheduledKernel* kernel = nullptr;
        ObjectKey key;  // of the kernel itself, whichever form is chosen
        Form form;
        std::string object;
        std::string error;
        bool no_maker = false;  // there is no compiler
        bool cached = false;
        bool spills = false;  // a tile of which no form has registers for all
    };

    Compiler(MachineTarget target, const CompilerOptions& options);
    static std::string name_of(const ObjectKey& key) { return "k" + key.digest; }
    ObjectKey key_of(const loop::Function& function) const;
    std::vector<Job> find_jobs(std::span<loop::ScheduledKernel* const> kernels,
                               std::vector<std::string>& names) const;
    void work(std::vector<Job>& jobs, std::atomic<size_t>& next);
    std::optional<loop::ScheduledKernel> narrower(const Job& job, Form& form);
    bool find(Job& job);
    Result<void> make(Job& job, ObjectMaker& maker);
    bool take_form(loop::ScheduledKernel& kernel, const Form& form);
    Error error_of(const Job& failed, const std::vector<Job>& jobs) const;
    Result<void> link(const std::vector<Job>& jobs);

    MachineTarget target_;
    bool fast_;
    std::string version_;  // all that decides about the code but the kernel itself
    std::unique_ptr<ObjectCache> cache_;
    CodeMemory code_;
    std::unordered_map<std::string, Form> forms_;  // by the names of kernels
    std::mutex narrowing_;
    CompilerStats stats_;
};

}  // namespace lemma::codegen
