// SPDX-License-Identifier: Apache-2.0
// The operators of the library that a model may need.
#include <algorithm>
#include <set>

#include "onnx/import.h"
#include "onnx/operators.h"

namespace lemma::onnx {

namespace {

// Adds an operator and those that import calls for it.
void add_operator(const std::string& op, std::set<std::string>& ops) {
    if (!ops.insert(op).second) return;
    const Operator* const row = find_operator(op);
    if (!row) return;
    for (const std::string_view made : made_operators(*row)) add_operator(std::string(made), ops);
}

}  // namespace

std::vector<std::string> called_operators(const Model& model) {
    std::set<std::string> ops;
    const auto add_nodes = [&](const std::vector<Node>& nodes) {
        for (const Node& node : nodes) add_operator(operator_of(node), ops);
    };
    for (const Graph& graph : model.graphs) add_nodes(graph.nodes);
    for (const Function& function : model.functions) add_nodes(function.nodes);
    // A definition has the name of its operator, without the domain. Some are for one kind of
    // elements.
    std::vector<std::string> names;
    for (const std::string& op : ops) {
        for (const char* const kind : {"", "_int", "_bool", "_any"})
            names.push_back(op.substr(op.rfind('.') + 1) + kind);
    }
    // Loops stack and unstack with operators of another module.
    if (ops.contains("Loop") || ops.contains("Scan")) {
        names.insert(names.end(), {"layout.stack", "layout.unstack"});
    }
    return names;
}

}  // namespace lemma::onnx
