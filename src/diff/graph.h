// SPDX-License-Identifier: Apache-2.0
// diff/graph.h — a program as a graph for comparison: a node for each operation at a level, with
// hashes of what it is, and edges by tensors. The nodes of a body come before its operation.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "diff/hash.h"
#include "diff/side.h"
#include "ir/program/program.h"

namespace lemma::diff {

enum class Level {
    Auto,       // compound for models of one format, formula across formats
    Compound,   // the calls of the graph
    Primitive,  // their primitives
    Formula,    // formulas of primitives, whatever the operators are called; copies vanish
};

struct Edge {
    std::string port;
    ir::TensorId tensor;  // invalid for null
};
struct NamedText {
    std::string name;
    std::string text;
    Hash hash;
    bool symbolic = false;  // has runtime extents
};

struct Node {
    ir::OpId op;
    std::string kind;                   // the operator
    std::string name;                   // label, or first result
    std::vector<NamedText> attributes;  // and the generic types
    std::vector<Edge> inputs;           // and the results of bodies
    std::vector<Edge> outputs;
    std::vector<ir::GraphId> bodies;
    Hash family;      // the operator, and the place inside bodies
    Hash signature;   // family, attributes and ports
    Hash definition;  // formulas, with renamed indices and tensors
    Hash full;        // all of these, and the types of the results
};

// An input or output of the model, or an update of a variable.
struct Terminal {
    std::string name;
    ir::TensorId tensor;
};

struct Use {
    size_t node;
    size_t input;
};

// A tensor that a loop gives to its body: the number counts carried values, items and the index.
struct BodyInput {
    ir::OpId loop;
    uint64_t number;
};

struct Graph {
    const ir::Program* program = nullptr;
    std::vector<Node> nodes;
    std::vector<Terminal> inputs, outputs;
    Table<ir::TensorId, std::optional<Use>> producers;  // `input` counts outputs
    Table<ir::TensorId, std::vector<Use>> uses;
    Table<ir::TensorId, std::optional<size_t>> input_numbers, output_numbers;  // of terminals
    Table<ir::TensorId, std::optional<BodyInput>> body_inputs;
    Table<ir::OpId, std::optional<size_t>> node_numbers;
};

// Operations in the order of nodes, each with a hash of its place: the main graph, or the bodies
// around it. Compounds are opened if `parts` is set.
using OperationVisitor = std::function<void(ir::OpId, Hash)>;
void visit_operations(const ir::Program& program, bool parts, const OperationVisitor& visit);

// `side` gives formulas to the level Formula, which adds expressions to its symbols.
Graph make_graph(Side& side, Level level);

// `f32[1, n, 8]`, for reports.
std::string type_text(const ir::Program& program, ir::TensorId id);
std::string shape_text(const ir::Program& program, ir::TensorId id);

}  // namespace lemma::diff
