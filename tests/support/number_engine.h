// tests/support/number_engine.h — runs a case of a number file by compiled kernels and by the
// interpreter, which is the oracle (design D7).
#pragma once

#include <string>

#include "ir/program/program.h"
#include "support/number_file.h"

namespace lemma::testing {

struct EngineRun {
    uint64_t seed = 0;         // of the inputs' and variables' values
    std::string cache_folder;  // of kernels
};

enum class EngineOutcome : uint8_t { Agrees, Differs, Refused };
struct EngineReport {
    EngineOutcome outcome{};
    std::string text;  // what differs, or why the interpreter refuses to run it
    // What the plan has.
    size_t kernels = 0;
    size_t tiled = 0;        // of those
    size_t interpreted = 0;  // operations that are left to the interpreter
    size_t direct = 0;       // runs on the caller's memory
};

// `program` is that of the case. Two runs with one thread and two with two have the interpreter's
// results, up to the rounding of reals, and the same bits; so has one on the caller's memory. What
// the interpreter refuses, the engine has to refuse too; and numbers that are none or infinite come
// out where it has them. Not for what draws random numbers.
EngineReport compare_engine(const NumberCase& test, ir::Program program, const EngineRun& run);

}  // namespace lemma::testing
