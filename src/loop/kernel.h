// loop/kernel.h — a formula translated once into instructions over registers, each placed at the
// outermost loop that it depends on; run by Kernel::run with every access checked.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/program.h"
#include "loop/array.h"

namespace lemma::loop {

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
    RealToBool,
    IntToBool,
    Function,  // of `functions`, number b
    AbsI,
    SignI,
    CheckIndex,  // a within [0, b), else an error
    GuardIndex,  // a within [0, b), else the loop goes on with its next step
    Remap,       // a within [0, b): a; below: register c; above: register c + 1
    Load,
    LoadIf,  // element b (an offset) of array a; LoadIf only where register c is true
};

struct Instruction {
    Code code{};
    bool optional = false;  // CheckIndex: only where register c is true
    uint32_t target = 0;
    uint32_t a = 0, b = 0, c = 0;
};

union Register {
    double real;
    int64_t integer;
};

struct KernelWrite {
    uint32_t array = 0;   // which of the arrays
    uint32_t offset = 0;  // register
    uint32_t value = 0;   // register
    bool real = false;
    int64_t counter_stride = 0;  // of the axis that the append counter indexes
};

class Kernel {
public:
    // Extents are constants by now (see substitute_extents); arrays have their final shapes.
    static Result<Kernel> compile(ir::Program& program,
                                  const ir::Formula& formula,
                                  const std::unordered_map<ir::TensorId, Array*, IdHash>& arrays);
    // Runs the whole loop nest. An error says which access left its tensor.
    Result<void> run();
    // The final value of the append counter.
    int64_t counter() const { return counter_; }

private:
    friend class KernelCompiler;
    bool loop(size_t depth);
    bool step();
    // False: a guard said to go on with the next step, or there is an error.
    bool execute(const std::vector<Instruction>& block);
    bool execute_memory(const Instruction& instruction);
    void write(const KernelWrite& write);
    int64_t append_offset(const KernelWrite& write) const;

    ir::FormulaOp op_{};
    std::vector<int64_t> extents_;
    std::vector<uint32_t> index_registers_;
    std::vector<std::vector<Instruction>> blocks_;  // by depth; the first runs once
    std::vector<Register> registers_;
    std::vector<Array*> arrays_;
    std::vector<std::string> names_;  // of the arrays, for errors
    std::vector<double (*)(double)> functions_;
    std::vector<KernelWrite> writes_;
    uint32_t condition_ = UINT32_MAX;  // register
    uint32_t counter_register_ = UINT32_MAX;
    int64_t counter_ = 0;
    std::string error_;
};

}  // namespace lemma::loop
