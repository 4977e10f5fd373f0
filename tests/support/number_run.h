// SPDX-License-Identifier: Apache-2.0
// tests/support/number_run.h — runs a case of a number file in the interpreter.
#pragma once

#include <string>

#include "ir/program/program.h"
#include "support/number_file.h"

namespace lemma::testing {

// The module text of the case, with one graph.
std::string number_graph(const NumberCase& test);

// The program of that text, or the error.
Result<ir::Program> compose_numbers(const NumberCase& test);

// The differences from the expected values, and the largest one; empty if there are none.
std::string run_numbers(const NumberCase& test);

}  // namespace lemma::testing
