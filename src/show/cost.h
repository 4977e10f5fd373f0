// SPDX-License-Identifier: Apache-2.0
// show/cost.h — the cost of a program's operations: parameters, multiply-accumulates and
// memory.
//
// A multiply-accumulate (MAC) is one iteration of a formula that sums products of values read from
// tensors; other formulas have none. The iterations are the volume of the formula's bounds. The
// cost of a compound is that of its parts, of a loop that of its body times the upper bound of its
// iterations, and of a branch that of its conditions and the most expensive arm.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "ir/program/program.h"
#include "show/amount.h"

namespace lemma::show {

// The variables that an operation reads, each once.
using VariableSet = std::set<ir::TensorId>;

struct Cost {
    Amount parameters;    // elements of the variables read
    Amount macs;          //
    Amount output_bytes;  // bytes of the results that the caller sees
};

struct Totals {
    size_t calls = 0;       // operations of the main graph
    size_t primitives = 0;  // primitives, including bodies
    Amount parameters;      // elements of all variables
    Amount weight_bytes;    // bytes of all variables
    Amount macs;
    Amount activation_bytes;  // bytes of the inputs and all results of primitives
    Amount peak_bytes;        // the peak of these bytes
};

class CostModel {
public:
    explicit CostModel(const ir::Program& program) : program_(program) {}

    Cost cost(ir::OpId op);
    // Of operations that are shown as one; the bytes are those of all their results.
    Cost cost(const std::vector<ir::OpId>& ops);
    Amount macs(ir::OpId op);
    Amount macs(ir::GraphId graph);
    Totals totals();

private:
    Amount control_macs(const ir::Branch& branch);
    Amount control_macs(const ir::Loop& loop);
    static Amount control_macs(std::monostate) { return {}; }
    void find_variables(const std::vector<ir::OpId>& ops, VariableSet& found) const;
    void find_variables(const ir::Operand& operand, VariableSet& found) const;
    size_t count_primitives(const std::vector<ir::OpId>& ops) const;

    const ir::Program& program_;
    std::map<ir::OpId, Amount> macs_;
};

// The iterations of a loop.
Amount iterations(const ir::Program& program, const ir::Loop& loop);

// The graphs inside a control-flow operation, in execution order; none for other operations.
struct Body {
    const char* role;  // `if`, `then`, `elif`, `else`, `while`, `do`
    ir::GraphId graph;
};
std::vector<Body> bodies(const ir::Operation& op);

// An operation that is shown as a unit: neither a compound nor control flow.
bool is_primitive(const ir::Operation& op);

}  // namespace lemma::show
