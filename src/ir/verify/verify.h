// SPDX-License-Identifier: Apache-2.0
// ir/verify/verify.h — the rules that every program keeps. Runs after each pass in debug and test
// builds; a problem is a mistake of our own, or of a hand-written text.
#pragma once

#include <string>
#include <vector>

#include "ir/program/program.h"

namespace lemma::ir {

// The problems in words, in the order of the program; none if the program is valid. The rules:
// - ids are valid; operations and graphs are each listed once, starting at the main graph;
// - a tensor is an input of the main graph, a constant, a variable, or made by exactly one
// primitive,
//   branch or loop; it is made before it is read, and tensors of a sub-graph stay inside it;
// - extents, lengths and counts are Int and not negative, and their symbols are those of inputs and
//   of results of operations; conditions are Bool;
// - formulas have as many indices as axes, write the outputs of their operation, in its type, and
//   read only indices, accesses and known symbols, accesses after those that they need;
// - the parts of a compound make its outputs; branches and loops agree with their graphs in number,
//   dtype and rank.
std::vector<std::string> verify(const Program& program);

}  // namespace lemma::ir
