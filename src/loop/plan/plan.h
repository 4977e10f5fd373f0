// SPDX-License-Identifier: Apache-2.0
// loop/plan/plan.h — the plan by which an engine runs a program with known extents: kernels on
// storages, in order, and steps for the interpreter.
#pragma once

#include <algorithm>
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
#include "loop/stage/dynamic.h"
#include "loop/stage/stage.h"

namespace lemma::loop {

enum class StorageRole : uint8_t {
    Given,     // inputs: filled before each run
    Kept,      // variables: filled once, changed by the updates after a run
    Constant,  // constants, weights, and results computed from them once
    Computed,  // by the steps of each run
};
struct Storage {
    StorageRole role = StorageRole::Computed;
    tensor::DType dtype{};
    int64_t elements = 0;
    ir::TensorId tensor;       // that it was made for; missing if the engine made it
    int64_t offset = -1;       // in the arena; -1: separate memory
    bool only_once = false;    // not needed after the steps that run once
    bool needs_zeros = false;  // parts that no step writes are read as zero
    bool scratch = false;      // of one item of one step: each thread has its own
    // The storage that contains this one; then this one has no separate memory.
    StorageId base;
    int64_t begin = 0;  // its first element in the base
    // Control flow decides at run time which of the targets it is.
    bool moves = false;
    std::vector<StorageId> targets;
};

// A row-major tensor with run-time extents. The engine reallocates its storage as needed.
struct DynamicView {
    StorageId storage;
    tensor::DType dtype{};
    bool computed = false;  // by a kernel; else the interpreter has it first
};

// A kernel with run-time extents, and the preparation of its call.
struct DynamicKernel {
    ScheduledKernel kernel;
    StorageId told;  // receives the shape arguments
    std::vector<ShapeArgument> numbers;
    bool first = true;                  // first kernel of the operation: makes the results
    std::vector<ir::TensorId> read;     // with run-time extents
    std::vector<ir::TensorId> cleared;  // results with zero as initial value
    std::vector<ir::TensorId> inlined;  // without memory: only their extents are checked
    std::vector<ir::OpId> within;  // compounds around it with assertions about run-time extents
};
struct InterpretedStep {
    std::string why;               // the feature that the engine does not support
    std::vector<ir::OpId> within;  // as in DynamicKernel
};
struct CheckStep {};  // only the assertions of the operation

// The numbers of the steps of a program, a body or a condition, in order.
using Region = std::vector<size_t>;

struct PlanCopy {
    StorageId from, to;
    int64_t to_begin = 0;  // elements
};
// A loop. Storages that the body shares with the outside move from iteration to iteration: a
// pointer changes instead of a copy, where possible.
struct PlanLoop {
    struct Item {
        StorageId seen;  // inside the body
        StoragePack pack;
    };
    struct Carried {
        StorageId seen, initial, result, outcome;
        bool stays = false;  // the body returns its argument
        // The next iteration may overwrite the result, so it is copied to the free slot.
        bool copied = false;
        StorageId slots[2];
    };
    // A result that the body writes: directly into its place in the pack, if there is one, else
    // into the free slot.
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
    std::vector<PlanCopy> before, after;  // into packs before the loop, out of packs after it
    std::optional<size_t> pre_condition, post_condition;  // regions
    StorageId pre_value, post_value;
    size_t body = 0;
    int64_t most_results = INT64_MAX;  // of scan outputs
    std::vector<ir::SymId> lengths;    // extents equal to the number of iterations
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
    // An output with the extents of the result of the selected arm.
    struct Dynamic {
        ir::TensorId output;
        std::vector<ir::TensorId> results;  // by arm
    };
    std::vector<Dynamic> dynamic;
};

struct PlanStep {
    ir::OpId op;                              // that it belongs to
    std::string label;                        // for profiles
    bool once = false;                        // a kernel on constants alone, before the first run
    double operations = 0;                    // multiplications and additions, roughly
    uint32_t wave = 0;                        // steps in a row with the same one are independent
    std::vector<ir::TensorId> reads, writes;  // of its group
    std::variant<ScheduledKernel, DynamicKernel, InterpretedStep, CheckStep, PlanLoop, PlanBranch>
        kind = {};

    template <class Kind>
    bool is() const {
        return std::holds_alternative<Kind>(kind);
    }
    // The kernel of the step, with known or run-time extents; null for other kinds.
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
    std::vector<PlanStep> steps;  // all steps, also those of bodies
    std::vector<Region> regions;  // the first is the program; steps that run once are in none
    int64_t arena_bytes = 0;
    uint32_t waves = 0;                // of more than one step
    std::vector<CarriedPair> carried;  // pairs that share memory

    // The storage that owns the memory.
    StorageId root(StorageId id) const {
        while (storages[id].base.valid()) id = storages[id].base;
        return id;
    }
};

struct PlanOptions {
    Target target;
    bool fuse = true;  // false: every operation by itself, as written
    Numerics numerics = Numerics::Default;
    ir::Accumulate accumulate = ir::Accumulate::F64;  // F32 needs strict numerics
    int32_t least_steps = kLeastSteps;                // of a tiled sum
    double least_gain = kLeastGain;                   // of merged products; 0: always merge
    double window_share = kWindowShare;               // of sums over windows; 0: plain sums
    double term_share = kTermShare;                   // of sums of terms of bf16; 0: none
    bool apart = false;                               // computed tensors share no memory
    bool integer_powers = false;                      // kernels may have Op::Pow of ints
    std::vector<CarriedPair> carried = {};            // may share memory
    PassLog* log = nullptr;                           // may be missing
    // Verifies the program, the graph after each pass, and the kernels; for tests.
    bool verify = false;
};

// `known` has the extents that follow from the inputs.
Plan make_plan(const ir::Program& program, const KnownExtents& known, const PlanOptions& options);

// Puts kernels that do not depend on each other into waves, whose kernels run at the same time.
// Runs before tensors share memory.
void find_waves(Plan& plan);

// Places computed tensors in the arena, unless they stay apart. The results are needed after a run.
void plan_memory(Plan& plan, const std::vector<ir::TensorId>& results, bool apart = false);

// Estimates the steps of the loops of all formulas together; unknown extents count as large.
// Counting ends at `enough`.
double steps_of(const ir::Program& program, double enough);

// All tensors that an operation reads or writes, including those of its parts and graphs.
std::vector<ir::TensorId> used_tensors(const ir::Program& program, ir::OpId id);

}  // namespace lemma::loop
