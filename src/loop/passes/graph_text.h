// SPDX-License-Identifier: Apache-2.0
// loop/passes/graph_text.h — prints stage graphs and regions for people: `--dump=loop:…`.
#pragma once

#include <string>

#include "loop/passes/region.h"

namespace lemma::loop {

// Each group with its stages: loops, guards and writes, in terms of the program's tensors.
std::string print(const StageGraph& graph, const ir::Program& program);
// The same, with the layouts of tensors.
std::string print(const RegionGraph& region);

// Names in these texts: of a tensor, and of an operation with its purpose.
std::string name_of(const ir::Program& program, ir::TensorId id);
std::string head(const ir::Program& program, ir::OpId op, const std::string& label);

}  // namespace lemma::loop
