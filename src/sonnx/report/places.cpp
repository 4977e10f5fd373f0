// SPDX-License-Identifier: Apache-2.0
#include "sonnx/report/places.h"

#include "sonnx/report/summary.h"

namespace lemma::sonnx {

Places::Places(const Report& report) : report_(report) {
    const onnx::Graph& graph = report.model().graphs[report.model().main];
    for (const NodeEntry& entry : report.contents.nodes)
        nodes_.emplace(place_text(report, entry.node->place), entry.index);
    std::unordered_map<std::string_view, size_t> tensors;
    for (size_t i = 0; i < report.contents.tensors.size(); ++i)
        tensors.emplace(report.contents.tensors[i].name, i);
    const auto add = [&](const std::string& name, onnx::PathSpan place) {
        const auto found = tensors.find(name);
        if (found != tensors.end())
            anchors_.emplace(place_text(report, place), tensor_anchor(found->second));
    };
    for (const auto* list : {&graph.inputs, &graph.outputs, &graph.values}) {
        for (const onnx::ValueInfo& value : *list) add(value.name, value.place);
    }
    for (const onnx::TensorData& data : graph.initializers) add(data.proto.name, data.place);
}

// Names may contain slashes, so every prefix that ends before one is tried, from the longest on.
std::optional<size_t> Places::node(const std::string& place) const {
    std::string part = place;
    while (true) {
        if (const auto found = nodes_.find(part); found != nodes_.end()) return found->second;
        const size_t slash = part.rfind('/');
        if (slash == std::string::npos) return std::nullopt;
        part.resize(slash);
    }
}

std::string Places::anchor(onnx::PathSpan place) const {
    const std::string text = place_text(report_, place);
    if (const auto index = node(text)) return node_anchor(*index);
    const auto found = anchors_.find(text);
    return found == anchors_.end() ? "" : found->second;
}

}  // namespace lemma::sonnx
