// SPDX-License-Identifier: Apache-2.0
// loop/plan/frozen.h — a plan that needs neither the engine nor the interpreter: constants with
// their bytes, kernels, and steps on memory with fixed places. Code generators turn it into
// programs (engine/freeze.h makes it).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "loop/ir/node.h"
#include "loop/schedule/schedule.h"
#include "tensor/shape.h"

namespace lemma::loop {

constexpr int64_t kFrozenAlign = 64;  // of the blocks of memory and of every tensor in them

enum class FrozenMemory : uint8_t {
    Constant,  // read-only bytes of the model
    Arena,     // zero before the first run; steps keep the zeros that they rely on
    State,     // variables: the initial bytes before the first run, kept between runs
    Input,     // the caller's, read-only; `number` is the input
    Output,    // the caller's; `number` is the output
    Moving,    // a pointer that loops and branches set; `number` is the pointer
    Flag,      // an i64 with initial value 0: set to 1 if a check of the kernel fails
    Extents,   // the caller's, read-only: the runtime extents, i64
};
struct FrozenPlace {
    FrozenMemory memory = FrozenMemory::Arena;
    uint32_t number = 0;
    int64_t offset = 0;  // bytes

    friend bool operator==(const FrozenPlace&, const FrozenPlace&) = default;
};

// An extent that each run gives, in [low, high].
struct FrozenExtent {
    std::string name;  // as in the model: any text
    int64_t low = 0, high = 0;
};

// An input or an output, row-major in the caller's memory; or a variable.
struct FrozenTensor {
    std::string name;  // as in the model: any text
    tensor::DType dtype{};
    tensor::Shape shape;  // upper bounds
    int64_t bytes = 0;    // likewise
    // With runtime extents: each axis as an expression, and of an input the number of its extent.
    struct Axis {
        std::string text;
        std::optional<size_t> extent = {};
    };
    std::vector<Axis> axes = {};
    int64_t sample_bytes = 0;  // of a plan that runs for each sample
};
struct FrozenVariable {
    FrozenTensor tensor;
    int64_t offset = 0;  // in the state
};

// Copies `bytes` bytes for each point of the axes, outermost first. From and to do not overlap.
// `count`: the place of an i64, by which the bytes are multiplied.
struct FrozenCopy {
    struct Axis {
        int64_t extent = 0;
        int64_t from_stride = 0, to_stride = 0;  // bytes
    };
    FrozenPlace from, to;
    int64_t bytes = 0;
    std::vector<Axis> axes;
    std::optional<FrozenPlace> count = {};
};

// The errors that a run may report.
enum class FrozenError : uint8_t {
    None = 0,
    Index = 1,     // an index left its tensor
    Items = 2,     // a loop ran past the items that it scans
    Results = 3,   // a loop gave more results than its output has items
    Unending = 4,  // a loop did not end after its upper bound
    Extents = 5,   // the model does not allow the runtime extents
};

struct FrozenCall {
    size_t kernel = 0;                       // in FrozenPlan::kernels
    std::vector<FrozenPlace> places;         // of the buffers of the function
    FrozenError error = FrozenError::Index;  // if the flag is set
    std::optional<FrozenPlace> items = {};   // an i64; missing: those of the function
    bool alone = false;                      // the items share memory: one thread runs them all
};

// Writes zeros to `bytes` bytes, times the i64 at `count`.
struct FrozenClear {
    FrozenPlace to;
    int64_t bytes = 0;
    std::optional<FrozenPlace> count = {};
};

// Sets a pointer to `from` if the i64 at `count` is positive, else to `otherwise`.
struct FrozenPick {
    uint32_t pointer = 0;
    FrozenPlace from, otherwise, count;
};

// An operator without a formula, as a function of generated code. Its tensors are row-major.
struct FrozenIntrinsic {
    struct Operand {
        FrozenPlace place;
        tensor::DType dtype{};
        tensor::Shape shape;
        // 8-byte elements for the function, a double or an int64_t for each element of the tensor.
        FrozenPlace wide;
    };
    ir::OpId op;
    std::vector<Operand> inputs, outputs;
};

struct FrozenStep;
using FrozenSteps = std::vector<FrozenStep>;

struct FrozenCondition {
    FrozenSteps steps;
    FrozenPlace value;  // a bool
};
// Evenly spaced tensors.
struct FrozenPack {
    FrozenPlace first;
    int64_t stride = 0;  // bytes
    int64_t count = 0;
};
struct FrozenNumber {
    FrozenPlace place;
    tensor::DType dtype = tensor::DType::I64;
};
// A pointer is the `number` of a place in moving memory.
struct FrozenLoop {
    struct Item {
        uint32_t seen = 0;  // pointer: to the item of the iteration
        FrozenPack pack;
    };
    enum class Passing : uint8_t { Stays, Moves, Copied };
    struct Carried {
        Passing passing = Passing::Stays;
        uint32_t seen = 0, outcome = 0;  // pointers
        FrozenPlace initial, result;
        // Of Copied: the result is copied to the slot that `seen` does not point to.
        FrozenPlace slots[2];
        int64_t bytes = 0;
    };
    // The body writes the result through the pointer: to its place in the pack, or to the slot with
    // the number of the iteration modulo 2.
    struct Written {
        uint32_t result = 0;
        std::optional<FrozenPack> pack;
        FrozenPlace slots[2];
    };
    struct Collected {  // copied to its place in the pack after the body
        FrozenPlace result;
        FrozenPack pack;
        int64_t bytes = 0;
    };
    int64_t count = 0;      // upper bound of the iterations
    bool must_end = false;  // a condition must end the loop before the count
    // Also an upper bound; an error if it exceeds `count` and there are items.
    std::optional<FrozenNumber> dynamic_count;
    std::optional<FrozenNumber> index;
    std::vector<Item> items;
    std::vector<Carried> carried;
    std::vector<Written> written;
    std::vector<Collected> collected;
    std::vector<FrozenCopy> before, after;
    int64_t most_results = INT64_MAX;  // an error if there are more iterations
    std::optional<FrozenCondition> pre, post;
    FrozenSteps body;
};
// Runs the first arm whose condition holds, then points the outputs to its results.
struct FrozenBranch {
    struct Arm {
        std::optional<FrozenCondition> condition;  // empty: the `else` arm
        FrozenSteps body;
        std::vector<FrozenPlace> results;
    };
    std::vector<Arm> arms;
    std::vector<uint32_t> outputs;  // pointers
};
struct FrozenStep {
    std::string label;  // of the operation, for comments: any text
    std::variant<FrozenCall,
                 FrozenCopy,
                 FrozenClear,
                 FrozenPick,
                 FrozenIntrinsic,
                 FrozenLoop,
                 FrozenBranch>
        kind;
};

// A kernel, used by one or more calls. Its `narrower` forms may replace it.
struct FrozenKernel {
    ScheduledKernel kernel;
    std::string label;  // of the first operation that uses it
};

// The kernel that checks the runtime extents and computes numbers from them. Its buffers are the
// extents, the numbers and a flag. The numbers begin with the shapes of all outputs.
struct FrozenShapes {
    size_t kernel = 0;
    int64_t numbers = 0;
};

struct FrozenPlan {
    std::string name;    // of the graph: any text
    std::string target;  // as in codegen::MachineTarget
    bool has_fma = false;
    std::vector<FrozenExtent> extents;   // that each run gives
    std::optional<FrozenShapes> shapes;  // if there are any
    // The steps are for one sample of a batch. They run as often as the only extent says; after
    // each time, inputs and outputs move on by their `sample_bytes`. The kernel of `shapes` runs
    // first.
    bool samples = false;
    std::vector<FrozenTensor> inputs, outputs;
    std::vector<FrozenVariable> variables;  // those that change
    std::string_view constants;             // bytes; each tensor aligned
    std::string_view initial_state;         // bytes
    std::shared_ptr<const void> owner;      // of these bytes
    int64_t arena_bytes = 0;
    uint32_t pointers = 0;  // of moving memory
    std::vector<FrozenKernel> kernels;
    FrozenSteps steps;
};

}  // namespace lemma::loop
