// loop/passes/graph_text.h — what passes over stages and kernels made, as text for people:
// `--dump=loop:…`.
#pragma once

#include <string>
#include <vector>

#include "loop/passes/graph.h"

namespace lemma::loop {

// The passes behind which there is something to show, in their order.
const std::vector<std::string>& dump_passes();

// Each unit with its stages: loops, guards, and what is written, over the tensors of the program.
std::string print(const StageGraph& graph, const ir::Program& program);
// The same, and how tensors are laid out.
std::string print(const StageGraph& graph, const Layouts& layouts, const ir::Program& program);

// Names in such texts: of a tensor, of an operation with what is done for it.
std::string name_of(const ir::Program& program, ir::TensorId id);
std::string head(const ir::Program& program, ir::OpId op, const std::string& label);

}  // namespace lemma::loop
