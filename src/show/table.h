// SPDX-License-Identifier: Apache-2.0
// show/table.h — a program as a table: inputs and outputs above, a row per operation with
// its results and its cost, totals below.
#pragma once

#include <string>

#include "ir/program/program.h"
#include "show/columns.h"

namespace lemma::show {

enum class Level {
    Compound,   // the calls of the graph
    Primitive,  // their primitives
};

struct TableOptions {
    Level level = Level::Compound;
    // Below each operation, all its operands and attributes. Without it, the table has a column for
    // the sources of the inputs and one for the attributes, if there is room.
    bool attributes = false;
    size_t width = 100;  // in columns
    bool cut = false;    // cuts names that are too long for the width; numbers stay whole
};
std::string show_table(const ir::Program& program, const TableOptions& options);

// The operations of a list at the given level: compounds or their leaves.
std::vector<ir::OpId> shown_operations(const ir::Program& program,
                                       const std::vector<ir::OpId>& ops,
                                       Level level);
// The shown name of an operation: its label, else its first result.
std::string shown_name(const ir::Program& program, const ir::Operation& op);
// The name of the operator, for a loop with its iterations: `loop, 5 times`.
std::string shown_operator(const ir::Program& program, const ir::Operation& op);
// The parts of a text in lines of at most `width` columns: all but the last part end in a comma.
std::vector<std::string> filled_lines(const std::vector<std::string>& parts, size_t width);

}  // namespace lemma::show
