// Which operators of the library a model can come to.
#include <algorithm>
#include <set>

#include "onnx/import.h"
#include "onnx/operators.h"

namespace lemma::onnx {

namespace {

void add_nodes(const std::vector<Node>& nodes, std::set<std::string>& names) {
    for (const Node& node : nodes) {
        for (const char* const kind : {"", "_int", "_bool", "_any"}) names.insert(node.op + kind);
        if (const Operator* const row = find_operator(operator_of(node)))
            names.insert(row->makes.begin(), row->makes.end());
    }
}

}  // namespace

std::vector<std::string> called_operators(const Model& model) {
    std::set<std::string> names;
    for (const Graph& graph : model.graphs) add_nodes(graph.nodes, names);
    for (const Function& function : model.functions) add_nodes(function.nodes, names);
    // These stack and unstack with operators of another module.
    if (names.contains("Loop") || names.contains("Scan")) return {};
    return {names.begin(), names.end()};
}

}  // namespace lemma::onnx
