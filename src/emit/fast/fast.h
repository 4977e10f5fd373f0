// SPDX-License-Identifier: Apache-2.0
// emit/fast/fast.h — a frozen plan as C code with vector types.
#pragma once

#include <string>
#include <vector>

#include "emit/c_text.h"
#include "emit/fast/vector_support.h"
#include "ir/program/program.h"
#include "loop/plan/frozen.h"

namespace lemma::emit {

struct FastOptions {
    std::string name = "model";  // prefix of files and functions: an identifier
    std::string origin;          // for comments
    // The program of the plan, for operators without a formula; may be missing if there are none.
    const ir::Program* program = nullptr;
};

// C names of the inputs and outputs, `t_x`, and of the runtime extents, `e_n`.
struct FastNames {
    std::vector<std::string> inputs, outputs, extents;
};
FastNames fast_names(const loop::FrozenPlan& plan);

// NAME.h: the interface of the generated code, the same for C and for object files.
std::string fast_header(const loop::FrozenPlan& plan, const FastOptions& options);

// Flags of GCC and Clang for a target.
std::string_view fast_flags(std::string_view target);
// The beginning of a file with kernels: includes, pragmas, and the type `kernel` of a function.
std::string fast_prologue(std::string_view target);

// NAME.c, NAME.h, weights.c, main.c, Makefile and NAME.json. The same plan gives the same bytes.
std::vector<CFile> write_fast(const loop::FrozenPlan& plan, const FastOptions& options);

}  // namespace lemma::emit
