// driver/show/table.h — a program as a table: a row per operation with its results and its cost,
// what goes in and out above, totals below.
#pragma once

#include <string>

#include "ir/program/program.h"

namespace lemma::driver {

enum class Level {
    Compound,   // the calls of the graph
    Primitive,  // what they come down to
};

std::string show_table(const ir::Program& program, Level level);

// The operations of a list as the level shows them: compounds or their leaves.
std::vector<ir::OpId> shown_operations(const ir::Program& program,
                                       const std::vector<ir::OpId>& ops,
                                       Level level);
// The name under which an operation is shown: its label, or else its first result.
std::string shown_name(const ir::Program& program, const ir::Operation& op);

}  // namespace lemma::driver
