// tests/support/number_run.h — runs a case of a number file in the interpreter.
#pragma once

#include <string>

#include "ir/program/program.h"
#include "support/number_file.h"

namespace lemma::testing {

// The module text that the case stands for, with one graph.
std::string number_graph(const NumberCase& test);

// The program of that text, or what is wrong with it.
Result<ir::Program> compose_numbers(const NumberCase& test);

// Says what differs from what is expected, and where it differs most; empty when nothing does.
std::string run_numbers(const NumberCase& test);

}  // namespace lemma::testing
