// ir/verify/verify.h — the rules that every program keeps, whoever made it. Runs after each pass in
// debug and test builds; a problem is a fault of ours, or of a hand-written text.
#pragma once

#include <string>
#include <vector>

#include "ir/program/program.h"

namespace lemma::ir {

// Each problem in words, in the order of the program; none if all is well. The rules:
// - ids name something; operations and graphs are each listed once, starting at the main graph;
// - a tensor is an input of the main graph, a constant, a variable, or made by just one primitive,
//   branch or loop; it is made before it is read, and what a sub-graph makes stays in there;
// - extents, lengths and counts are Int and not negative, and their symbols are those of inputs and
//   of what operations make; conditions are Bool;
// - formulas have as many indices as axes, write the outputs of their operation, in its type, and
//   read indices, accesses and known symbols only, accesses behind those that they need;
// - the parts of a compound make its outputs; branches and loops agree with their graphs in number,
//   dtype and rank.
std::vector<std::string> verify(const Program& program);

}  // namespace lemma::ir
