// SPDX-License-Identifier: Apache-2.0
// Rules about names and order. The check of the format finds most problems; these rules give them
// the profile's ids. Only unused parts are checked here.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/sha256.h"
#include "diag/utf8.h"
#include "sonnx/inspection.h"
#include "sonnx/live.h"

namespace lemma::sonnx {

namespace {

using diag::printable;

void take_over(Inspection& inspection, std::initializer_list<DiagKind> kinds) {
    for (const diag::Diagnostic& item : inspection.view().subject().base.items()) {
        if (std::ranges::find(kinds, item.kind) != kinds.end())
            inspection.fail({item.span.begin, item.span.end}, item.message);
    }
}

int64_t count_of(const auto& list) { return static_cast<int64_t>(list.size()); }

void check_single_assignment(Inspection& inspection) {
    const onnx::Graph& graph = inspection.graph();
    inspection.examined("names", count_of(graph.inputs) + count_of(graph.initializers));
    for (const onnx::Node& node : graph.nodes) inspection.examined("names", count_of(node.outputs));
    take_over(inspection, {DiagKind::DuplicateName});
}

// In ONNX an initialiser can be the default of an input, which the caller may replace.
void check_overridable(Inspection& inspection) {
    const onnx::Graph& graph = inspection.graph();
    inspection.examined("inputs", count_of(graph.inputs));
    for (const onnx::ValueInfo& input : graph.inputs) {
        if (inspection.view().initializer(input.name)) {
            inspection.fail_fixable(
                input.place,
                fmt::format("the input `{}` has an initialiser as well", printable(input.name)));
        }
    }
}

void check_defined(Inspection& inspection) {
    for (const onnx::Node& node : inspection.graph().nodes)
        inspection.examined("names", count_of(node.inputs));
    inspection.examined("names", count_of(inspection.graph().outputs));
    take_over(inspection, {DiagKind::UndeclaredName, DiagKind::MissingOutput});
}

void check_order(Inspection& inspection) {
    inspection.examined("nodes", count_of(inspection.graph().nodes));
    take_over(inspection, {DiagKind::UsedBeforeAssigned});
}

void check_cycles(Inspection& inspection) {
    inspection.examined("nodes", count_of(inspection.graph().nodes));
    take_over(inspection, {DiagKind::CyclicGraph});
}

// The operator, the inputs and the attributes, without name and place.
std::string content_of(const onnx::Node& node) {
    std::string text = node.domain + "\n" + node.op + "\n";
    for (const std::string& input : node.inputs) text += input + "\n";
    std::map<std::string, std::string> attributes;
    for (const onnx::Attribute& each : node.attributes) {
        std::string& value = attributes[each.name];
        for (const int64_t item : each.ints) value += fmt::format("{} ", item);
        for (const float item : each.floats) value += fmt::format("{} ", item);
        for (const std::string& item : each.strings) value += item + "\n";
        for (const onnx::TensorData& item : each.tensors)
            value += sha256(item.proto.message.bytes());
    }
    for (const auto& [name, value] : attributes) text += name + "=" + value + "\n";
    return text;
}

void check_contributes(Inspection& inspection) {
    const auto live = live_nodes(inspection.graph(), inspection.view().model());
    for (size_t i = 0; i < inspection.graph().nodes.size(); ++i) {
        inspection.examined();
        if (live[i]) continue;
        inspection.fail_fixable(inspection.graph().nodes[i].place,
                                "no output of the graph depends on the node",
                                "drops it");
    }
}

void check_unused(Inspection& inspection) {
    const View& view = inspection.view();
    std::map<std::string, const onnx::Node*> seen;
    for (const onnx::Node& node : inspection.graph().nodes) {
        inspection.examined("nodes and tensors");
        const bool has_graph = std::ranges::any_of(
            node.attributes, [](const onnx::Attribute& each) { return !each.graphs.empty(); });
        if (has_graph) continue;
        if (!seen.emplace(content_of(node), &node).second)
            inspection.fail(node.place, "another node does the same with the same inputs");
    }
    for (const onnx::TensorData& data : inspection.graph().initializers) {
        inspection.examined("nodes and tensors");
        if (!view.is_used(data.proto.name))
            inspection.fail(data.place, "nothing uses the initialiser");
    }
    for (const onnx::ValueInfo& input : inspection.graph().inputs) {
        inspection.examined("nodes and tensors");
        if (!view.is_used(input.name)) inspection.fail(input.place, "nothing uses the input");
    }
    for (const onnx::ValueInfo& value : inspection.graph().values) {
        const bool exists =
            view.maker(value.name) || view.initializer(value.name) ||
            std::ranges::find(inspection.graph().inputs, value.name, &onnx::ValueInfo::name) !=
                inspection.graph().inputs.end();
        if (!exists)
            inspection.fail(value.place, "a type is declared for a tensor that is not there");
    }
}

}  // namespace

std::vector<Rule> graph_rules() {
    using enum Severity;
    return {
        {"S004",
         "SSA, S004a",
         Violation,
         "each name is made once (single assignment)",
         "a tensor has one meaning in the whole graph",
         "ONNX IR; graph execution semantics (000)",
         check_single_assignment},
        {"S021",
         "S004b",
         Violation,
         "each name that is used is made",
         "a graph is complete without extra information",
         "ONNX IR; graph execution semantics (000)",
         check_defined},
        {"S022",
         "S004c, AI-003, FO 011",
         Violation,
         "nodes are listed in a topological order",
         "an operator runs only when its inputs are there; any such order gives the same bits",
         "ONNX IR; graph execution semantics (000)",
         check_order},
        {"S023",
         "S004d",
         Violation,
         "the graph has no cycles",
         "a model is a stateless function over an acyclic graph",
         "ONNX IR; graph execution semantics (000)",
         check_cycles},
        {"S025",
         "OP 016, AI-001",
         Restriction,
         "no input of the graph has an initialiser",
         "a value that can be replaced at run time is a default",
         "WG requirements",
         check_overridable},
        {"GRAPH-R2",
         "graph R2, AI-004",
         Restriction,
         "every node contributes to an output of the graph",
         "each node traces to a requirement, and nothing is computed in vain",
         "graph, R2",
         check_contributes},
        {"S005",
         "AI-004",
         Advisory,
         "no duplicate nodes, and no unused initialisers, inputs or declarations",
         "each part traces to a requirement",
         "WG needs",
         check_unused},
    };
}

}  // namespace lemma::sonnx
