// driver/show/json.h — a program as one JSON document:
//
//   {graph, inputs, outputs, variables, operations, updates, assertions, totals}
//   operation: {operation, label, dtypes, attributes, inputs, outputs, parameters, macs,
//               output_bytes, assertions, parts | iterations, bodies: [{role, operations,
//               outputs}]}
//   input or output: {name, tensor, role, dtype, shape, bounds, value, quantizer}, or {name, pack:
//               [tensor…], length}, or {name, null: true}
//
// Extents are numbers, or texts with their largest values in `bounds` (null without one). Counts
// are numbers; the lists `at_most` and `at_least` beside them name those that are bounds only.
#pragma once

#include <string>

#include "driver/show/table.h"
#include "ir/program/program.h"

namespace lemma::driver {

// Level::Primitive gives the leaves, without parts.
std::string show_json(const ir::Program& program, Level level);

}  // namespace lemma::driver
