// loop/passes/graph_text.h — what passes over stages and kernels made, as text for people:
// `--dump=loop:…`.
#pragma once

#include <string>

#include "loop/passes/region.h"

namespace lemma::loop {

// Each unit with its stages: loops, guards, and what is written, over the tensors of the program.
std::string print(const StageGraph& graph, const ir::Program& program);
// The same, and where tensors lie.
std::string print(const RegionGraph& region);

// Names in such texts: of a tensor, of an operation with what is done for it.
std::string name_of(const ir::Program& program, ir::TensorId id);
std::string head(const ir::Program& program, ir::OpId op, const std::string& label);

}  // namespace lemma::loop
