// SPDX-License-Identifier: Apache-2.0
// engine/growing.h — extents that grow from run to run, such as the number of tokens so far. Code
// leaves them open, so that the next length needs no compilation.
#pragma once

#include <optional>
#include <vector>

#include "ir/program/program.h"

namespace lemma::engine {

// The symbols of input extents that grow: an output has the shape of the input, but is longer on
// this axis. Its value is meant to be the input of the next run.
std::vector<ir::SymId> growing_extents(const ir::Program& program);

// The axis on which the output continues the input; the other extents are the same.
std::optional<size_t> growing_axis(const ir::Program& program,
                                   ir::TensorId input,
                                   ir::TensorId output);

}  // namespace lemma::engine
