// SPDX-License-Identifier: Apache-2.0
// interpret/bytecode.h — a formula compiled once to instructions over registers, each placed at the
// outermost loop that it depends on. The innermost loop runs in lanes: every instruction computes a
// row of steps. All accesses are checked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/control.h"
#include "interpret/array.h"
#include "ir/program/program.h"

namespace lemma::interpret {

enum class Code : uint8_t {
    // registers hold a real or an int; `I` and `R` say which
    AddI,
    MulI,
    DivI,
    ModI,
    PowI,
    MinI,
    MaxI,
    AddR,
    SubR,
    MulR,
    DivR,
    CeilDivR,
    ModR,
    PowR,
    MinR,
    MaxR,
    NegR,
    LessEqualI,
    EqualI,
    NotEqualI,
    LessR,
    LessEqualR,
    EqualR,
    NotEqualR,
    And,
    Or,
    Xor,
    Not,
    Select,  // a ? b : c
    RealToInt,
    IntToReal,
    IntToFloat,  // rounded to float once
    RoundR,      // to float
    RealToBool,
    IntToBool,
    Function,  // function number b of `functions`
    AbsI,
    SignI,
    AddOverflows,  // whether a sum, product or power overflows
    MulOverflows,
    PowOverflows,
    CheckFits,   // error unless a is false
    CheckIndex,  // error unless a is within [0, b)
    GuardIndex,  // skips the step unless a is within [0, b)
    Remap,       // a within [0, b): a; below: c; above: d
    Load,
    LoadIf,  // element b (an offset) of array a; LoadIf only if register c is true
};

struct Instruction {
    Code code{};
    bool optional = false;  // CheckIndex, CheckFits: only if register c is true
    uint32_t target = 0;
    uint32_t a = 0, b = 0, c = 0, d = 0;
};

union Register {
    double real;
    int64_t integer;
};

struct BytecodeWrite {
    uint32_t array = 0;   // index of the array
    uint32_t offset = 0;  // register
    uint32_t value = 0;   // register
    bool real = false;
    int64_t counter_stride = 0;  // stride of the axis that the append counter indexes
};

class Bytecode {
public:
    using Shapes = std::unordered_map<ir::TensorId, tensor::Shape, IdHash>;

    // The expressions of the formula are in `symbols`. Extents are constants here; `shapes` has
    // those of all tensors in the formula. `in_float`: each real operation is rounded to float
    // (accumulate.h).
    static Result<Bytecode> compile(const ir::Program& program,
                                    ir::SymbolPool& symbols,
                                    const ir::Formula& formula,
                                    const Shapes& shapes,
                                    bool in_float = false);
    // The tensors whose arrays `run` expects, in this order, with the shapes given to `compile`.
    const std::vector<ir::TensorId>& tensors() const { return tensors_; }
    // Runs the whole loop nest. The error names the access that left its tensor.
    // With a control, it stops when the call should end.
    Result<void> run(std::span<Array* const> arrays, const RunControl* control = nullptr);
    // The final value of the append counter.
    int64_t counter() const { return counter_; }

private:
    friend class BytecodeCompiler;
    struct Slot {
        double* reals = nullptr;
        int64_t* integers = nullptr;
        int64_t size = 0;
    };

    bool loop(size_t depth);
    bool inner_loop();
    bool stopped();
    // Executes `lanes` steps of the innermost loop; 1 for the blocks around it. False: no step
    // continues, because of guards or an error.
    bool execute(const std::vector<Instruction>& block, size_t lanes);
    bool execute_memory(const Instruction& instruction, size_t lanes);
    bool check_fits(const Instruction& instruction, size_t lanes);
    bool check_index(const Instruction& instruction, size_t lanes);
    bool guard_index(const Instruction& instruction, size_t lanes);
    bool load(const Instruction& instruction, size_t lanes);
    bool store(size_t lanes);
    // `kMember` of a register holds the value.
    template <auto kMember, class Element, class Combine>
    bool store_elements(
        const BytecodeWrite& write, size_t from, size_t to, Element* elements, Combine combine);
    bool store_lanes(const BytecodeWrite& write, size_t from, size_t to);
    bool out_of_bounds(const BytecodeWrite& write, int64_t offset);
    template <class F>
    void map1(const Instruction& instruction, size_t lanes, F f);
    template <class F>
    void map2(const Instruction& instruction, size_t lanes, F f);
    bool active(size_t lane) const { return !masked_ || active_[lane] != 0; }
    void mask(size_t lane);
    Register* at(uint32_t reg) { return storage_.data() + places_[reg]; }
    size_t step_of(uint32_t reg) const { return wide_[reg]; }
    void bind(std::span<Array* const> arrays);
    void give_back_texts(std::span<Array* const> arrays) const;
    // Called after all instructions exist: a row for each register that differs between lanes.
    void place_registers();

    ir::FormulaOp op_{};
    bool in_float_ = false;         // sums and products are rounded at each step
    std::vector<int64_t> extents_;  // outermost first; at least one
    std::vector<uint32_t> index_registers_;
    std::vector<std::vector<Instruction>> blocks_;  // by depth; the first runs once
    std::vector<Register> initial_;                 // by register: constants
    std::vector<uint8_t> wide_;                     // by register: has a value per lane
    std::vector<uint32_t> places_;                  // by register: position in storage_
    std::vector<Register> storage_;
    std::vector<uint8_t> active_;  // by lane, if masked_
    bool masked_ = false;
    size_t max_lanes_ = 1;
    std::vector<ir::TensorId> tensors_;
    std::vector<Slot> slots_;
    std::vector<std::string> names_;  // names of the tensors, for errors
    // Texts are represented by numbers: indices into a list that begins with the constants.
    std::vector<std::string> constant_texts_;
    std::vector<std::string> texts_;
    std::vector<std::vector<int64_t>> text_numbers_;  // by slot
    std::vector<double (*)(double)> functions_;
    std::vector<BytecodeWrite> writes_;
    uint32_t condition_ = UINT32_MAX;         // register
    uint32_t counter_register_ = UINT32_MAX;  // lanes then run one by one
    int64_t counter_ = 0;
    std::string error_;
    const RunControl* control_ = nullptr;
    uint32_t patience_ = 0;  // rows until the next look at the control
};

}  // namespace lemma::interpret
