// driver/bench/peak.h — how fast the processor multiplies and adds, measured: the number that
// kernels are compared with.
#pragma once

#include "base/result.h"
#include "codegen/compiler.h"

namespace lemma::driver {

// Of floats, with so many threads, in operations a second. Takes a few hundredths of a second.
Result<double> measure_peak(codegen::Compiler& compiler, int threads);

}  // namespace lemma::driver
