// SPDX-License-Identifier: Apache-2.0
// show/table.h — a program as a table: inputs and outputs above, a row per operation with
// its results and its cost, totals below.
#pragma once

#include <string>

#include "ir/program/program.h"

namespace lemma::show {

enum class Level {
    Compound,   // the calls of the graph
    Primitive,  // their primitives
};

std::string show_table(const ir::Program& program, Level level);

// The operations of a list at the given level: compounds or their leaves.
std::vector<ir::OpId> shown_operations(const ir::Program& program,
                                       const std::vector<ir::OpId>& ops,
                                       Level level);
// The shown name of an operation: its label, else its first result.
std::string shown_name(const ir::Program& program, const ir::Operation& op);

}  // namespace lemma::show
