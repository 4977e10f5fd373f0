// SPDX-License-Identifier: Apache-2.0
// driver/bench/peak.h — measures the peak speed of multiplications and additions. Kernels are
// compared with it.
#pragma once

#include "base/result.h"
#include "codegen/compiler.h"

namespace lemma::driver {

// Float operations per second with the given number of threads. Takes a few hundredths of a second.
Result<double> measure_peak(codegen::Compiler& compiler, int threads);
// The same by the clock on the wall, while all threads compute at the same time: they may share the
// units of a processor, its clock, and the machine with others.
Result<double> measure_arithmetic(codegen::Compiler& compiler, int threads);

}  // namespace lemma::driver
