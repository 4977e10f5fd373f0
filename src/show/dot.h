// SPDX-License-Identifier: Apache-2.0
// show/dot.h — a program as a Graphviz graph. Operations are boxes, tensors are edges with
// their types. Boxes count their variables; bodies of branches and loops are frames.
#pragma once

#include <string>

#include "ir/program/program.h"
#include "show/table.h"

namespace lemma::show {

std::string show_dot(const ir::Program& program, Level level);

}  // namespace lemma::show
