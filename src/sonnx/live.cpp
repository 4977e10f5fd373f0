// SPDX-License-Identifier: Apache-2.0
#include "sonnx/live.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace lemma::sonnx {

namespace {

// All names that the node and its sub-graphs use. The reader limits the depth.
void add_used(const onnx::Node& node, const onnx::Model& model, std::vector<std::string>& to) {
    to.insert(to.end(), node.inputs.begin(), node.inputs.end());
    for (const onnx::Attribute& attribute : node.attributes) {
        for (const onnx::GraphId id : attribute.graphs) {
            const onnx::Graph& inner = model.graphs[id];
            for (const onnx::Node& each : inner.nodes) add_used(each, model, to);
            for (const onnx::ValueInfo& output : inner.outputs) to.push_back(output.name);
        }
    }
}

}  // namespace

std::vector<bool> live_nodes(const onnx::Graph& graph, const onnx::Model& model) {
    std::unordered_multimap<std::string, size_t> makers;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const std::string& output : graph.nodes[i].outputs) {
            if (!output.empty()) makers.emplace(output, i);
        }
    }
    std::vector<bool> live(graph.nodes.size());
    std::vector<std::string> wanted;
    for (const onnx::ValueInfo& output : graph.outputs) wanted.push_back(output.name);
    std::unordered_set<std::string> seen;
    while (!wanted.empty()) {
        const std::string name = std::move(wanted.back());
        wanted.pop_back();
        if (!seen.insert(name).second) continue;
        const auto [begin, end] = makers.equal_range(name);
        for (auto maker = begin; maker != end; ++maker) {
            if (live[maker->second]) continue;
            live[maker->second] = true;
            add_used(graph.nodes[maker->second], model, wanted);
        }
    }
    return live;
}

}  // namespace lemma::sonnx
