// loop/graph_text.h — what passes over stages and kernels made, as text for people:
// `--dump=loop:…`.
#pragma once

#include <string>
#include <vector>

#include "loop/graph.h"

namespace lemma::loop {

// The passes behind which there is something to show, in their order.
const std::vector<std::string>& dump_passes();

// Each unit with its stages: loops, guards, and what is written, over the tensors of the program.
std::string print(const StageGraph& graph, const ir::Program& program);
// The same, and how tensors are laid out.
std::string print(const StageGraph& graph, const Layouts& layouts, const ir::Program& program);
// Each step with its kernel, and the pieces of memory.
std::string print(const Plan& plan, const ir::Program& program);

}  // namespace lemma::loop
