// SPDX-License-Identifier: Apache-2.0
// interpret/lifetimes.h — until when the interpreter needs the values of tensors.
#pragma once

#include <vector>

#include "ir/program/program.h"

namespace lemma::interpret {

// For each operation of the main graph, the tensors that nothing needs behind it.
std::vector<std::vector<ir::TensorId>> tensors_dead_after(const ir::Program& program);

}  // namespace lemma::interpret
