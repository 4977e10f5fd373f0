// loop/plan/plan.h — how an engine runs a program whose extents are known: kernels on pieces of
// memory, in order, and what is left to the interpreter.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/store.h"
#include "ir/program/program.h"
#include "loop/ir/layout.h"
#include "loop/ir/numerics.h"
#include "loop/passes/pipeline.h"
#include "loop/schedule/schedule.h"
#include "loop/stage/stage.h"

namespace lemma::loop {

enum class StorageRole : uint8_t {
    Given,     // inputs: filled before each run
    Kept,      // variables: filled once, and changed by the updates behind a run
    Constant,  // constants and weights, and what is computed from them once
    Computed,  // by the steps of each run
};
struct Storage {
    StorageRole role = StorageRole::Computed;
    tensor::DType dtype{};
    int64_t elements = 0;
    ir::TensorId tensor;       // that it was made for; missing if the engine made it
    int64_t offset = -1;       // in the arena; -1: memory of its own
    bool only_once = false;    // not needed any more when the first run begins
    bool needs_zeros = false;  // parts that no step writes are read as zero
    // One that is a part of another has no memory of its own.
    StorageId base;
    int64_t begin = 0;  // elements of the base before it
    // Where it is, control flow tells at run time: one of the targets.
    bool moves = false;
    std::vector<StorageId> targets;
};

// A tensor whose extents only the run tells, row-major; its storage moves to where there is room.
struct DynamicView {
    StorageId storage;
    tensor::DType dtype{};
    bool computed = false;  // by a kernel; else the interpreter has it first
};

// A kernel with run-time extents, and what it needs before it can be called.
struct DynamicKernel {
    ScheduledKernel kernel;
    StorageId told;  // where the numbers go
    std::vector<ShapeArgument> numbers;
    bool first = true;                  // of the operation's kernels: its results are made here
    std::vector<ir::TensorId> read;     // with extents that the run tells
    std::vector<ir::TensorId> cleared;  // results that start as zeros
    std::vector<ir::TensorId> inlined;  // without memory: only their extents are checked
    std::vector<ir::OpId> within;  // compounds around it with assertions about run-time extents
};
struct InterpretedStep {
    std::string why;               // what the engine has no way to do
    std::vector<ir::OpId> within;  // as that of DynamicKernel
};
struct CheckStep {};  // the assertions of the operation alone

// Steps in their order, by number: those of the program, of a body, of a condition.
using Region = std::vector<size_t>;

struct PlanCopy {
    StorageId from, to;
    int64_t to_begin = 0;  // elements
};
// What a body sees of values outside of it, and gives, moves from step to step: memory is not
// copied where a pointer can change instead.
struct PlanLoop {
    struct Item {
        StorageId seen;  // as the body sees it
        StoragePack pack;
    };
    struct Carried {
        StorageId seen, initial, result, outcome;
        bool stays = false;  // the body gives what it takes
        // The result is somewhere that the next step may overwrite: it is copied to the slot that
        // is free.
        bool copied = false;
        StorageId slots[2];
    };
    // A result that the body writes. It goes straight to its place in the pack, if there is one,
    // else to the slot that is not in use.
    struct Written {
        StorageId result;
        std::optional<StoragePack> pack;
        StorageId slots[2];
    };
    struct Collected {  // a result that is copied to its place in the pack
        StorageId result;
        StoragePack pack;
    };
    std::optional<int64_t> count;  // at most
    StorageId dynamic_count, index;
    std::vector<Item> items;
    std::vector<Carried> carried;
    std::vector<Written> written;
    std::vector<Collected> collected;
    std::vector<PlanCopy> before, after;  // to make packs of what lies elsewhere, and back
    std::optional<size_t> pre_condition, post_condition;  // regions
    StorageId pre_value, post_value;
    size_t body = 0;
    int64_t most_results = INT64_MAX;  // of scan outputs
    std::vector<ir::SymId> lengths;    // that are the number of steps
};
struct PlanBranch {
    struct Arm {
        std::optional<size_t> condition;  // a region; none: the alternative
        StorageId value;
        size_t body = 0;
        std::vector<StorageId> results;
    };
    std::vector<Arm> arms;
    std::vector<StorageId> outputs;
    // An output whose extents are those of the result of the arm that is taken.
    struct Dynamic {
        ir::TensorId output;
        std::vector<ir::TensorId> results;  // by arm
    };
    std::vector<Dynamic> dynamic;
};

struct PlanStep {
    ir::OpId op;                              // of which it is a part
    std::string label;                        // for profiles
    bool once = false;                        // before the first run: a kernel on constants alone
    double operations = 0;                    // multiplications and additions, roughly
    std::vector<ir::TensorId> reads, writes;  // of the group that it was
    std::variant<ScheduledKernel, DynamicKernel, InterpretedStep, CheckStep, PlanLoop, PlanBranch>
        kind = {};

    template <class Kind>
    bool is() const {
        return std::holds_alternative<Kind>(kind);
    }
    // Its kernel, with run-time extents or not; null if it is of another kind.
    const ScheduledKernel* kernel() const {
        if (const auto* const dynamic = std::get_if<DynamicKernel>(&kind)) return &dynamic->kernel;
        return std::get_if<ScheduledKernel>(&kind);
    }
    ScheduledKernel* kernel() {
        return const_cast<ScheduledKernel*>(std::as_const(*this).kernel());
    }
};

struct Plan {
    Store<StorageId, Storage> storages;
    BufferViews places;  // of the tensors that have memory
    std::unordered_map<ir::TensorId, DynamicView, IdHash> dynamic_places;
    std::vector<PlanStep> steps;  // all of them, those of bodies too
    std::vector<Region> regions;  // the first is the program; steps that run once are in none
    int64_t arena_bytes = 0;

    // The storage that has the memory.
    StorageId root(StorageId id) const {
        while (storages[id].base.valid()) id = storages[id].base;
        return id;
    }
};

struct PlanOptions {
    Target target;
    bool fuse = true;  // false: every operation by itself, as it is written
    Numerics numerics = Numerics::Default;
    int32_t least_steps = kLeastSteps;  // of a sum that is tiled
    double least_gain = kLeastGain;     // of products that become one; 0: of any
    bool apart = false;                 // what is computed shares no memory
    PassLog* log = nullptr;             // may be missing
    // The program, the graph behind each pass and the kernels are verified; for tests.
    bool verify = false;
};

// `known` has the extents that the inputs tell.
Plan make_plan(const ir::Program& program, const KnownExtents& known, const PlanOptions& options);

// Gives what is computed its place in the arena, unless it is to stay apart. The results are needed
// when a run is over.
void plan_memory(Plan& plan, const std::vector<ir::TensorId>& results, bool apart = false);

// How many steps the loops of all formulas have together, roughly; extents that are not known count
// as large. Counting ends at `enough`.
double steps_of(const ir::Program& program, double enough);

// All tensors that an operation reads or writes, those of its parts and graphs too.
std::vector<ir::TensorId> used_tensors(const ir::Program& program, ir::OpId id);

}  // namespace lemma::loop
