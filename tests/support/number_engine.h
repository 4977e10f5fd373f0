// SPDX-License-Identifier: Apache-2.0
// tests/support/number_engine.h — runs a case of a number file in compiled kernels and in the
// interpreter, which is the oracle (design D7).
#pragma once

#include <string>

#include "ir/program/accumulate.h"
#include "ir/program/program.h"
#include "loop/ir/numerics.h"
#include "support/number_file.h"

namespace lemma::testing {

struct EngineRun {
    uint64_t seed = 0;         // seed of the values of inputs and variables
    std::string cache_folder;  // object cache of the kernels
    loop::Numerics numerics = loop::Numerics::Default;
    ir::Accumulate accumulate = ir::Accumulate::F64;
    std::string device = {};  // `test`: a TestDevice; else a name of device/device.h
};

enum class EngineOutcome : uint8_t { Agrees, Differs, Refused };
struct EngineReport {
    EngineOutcome outcome{};
    std::string text;  // the difference, or why the interpreter refuses the case
    // Numbers of the plan.
    size_t kernels = 0;
    size_t tiled = 0;        // tiled kernels
    size_t interpreted = 0;  // operations left to the interpreter
    size_t direct = 0;       // runs on the caller's memory
    size_t on_device = 0;    // kernels
};

// `program` is that of the case. Two runs with one thread and two with two must match the
// interpreter up to rounding of reals, with the same bits; so must a run on the caller's memory.
// The engine must refuse what the interpreter refuses. NaN and infinities must appear in the same
// elements. Not for random operators.
EngineReport compare_engine(const NumberCase& test, ir::Program program, const EngineRun& run);

// Strict numerics must have the bits of the interpreter, with both precisions of accumulate.h.
EngineReport compare_strict(const NumberCase& test, ir::Program program, const EngineRun& run);

}  // namespace lemma::testing
