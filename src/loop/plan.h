// loop/plan.h — how an engine runs a program whose extents are known: kernels on pieces of memory,
// in order, and what is left to the interpreter.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/store.h"
#include "ir/program.h"
#include "loop/layout.h"
#include "loop/numerics.h"
#include "loop/schedule.h"
#include "loop/stage.h"

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
};

struct PlanStep {
    ir::OpId op;        // of which it is a part
    std::string label;  // for profiles
    bool once = false;  // before the first run: what depends on constants alone
    bool interpreted = false;
    std::string why;                          // interpreted: what the engine has no way to do
    Scheduled kernel;                         // otherwise
    double operations = 0;                    // multiplications and additions, roughly
    std::vector<ir::TensorId> reads, writes;  // of an interpreted step
};

struct Plan {
    lemma::Store<StorageId, Storage> storages;
    Places places;  // of the tensors that have memory
    std::vector<PlanStep> steps;
    int64_t arena_bytes = 0;
};

// What was made, told pass by pass (graph_text.h).
struct PlanLog {
    std::string pass;  // the one to show
    std::string text;
};

struct PlanOptions {
    Target target;
    bool fuse = true;  // false: every operation by itself, as it is written
    Numerics numerics = Numerics::Default;
    PlanLog* log = nullptr;  // may be missing
};

// `known` has the extents that the inputs tell.
Plan make_plan(const ir::Program& program, const Known& known, const PlanOptions& options);

// Gives what is computed its place in the arena. The results are needed when a run is over.
void plan_memory(Plan& plan, const std::vector<ir::TensorId>& results);

// All tensors that an operation reads or writes, those of its parts and graphs too.
std::vector<ir::TensorId> used_tensors(const ir::Program& program, ir::OpId id);

}  // namespace lemma::loop
