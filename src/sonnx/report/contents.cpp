// SPDX-License-Identifier: Apache-2.0
#include "sonnx/report/contents.h"

#include <map>
#include <unordered_set>

#include "onnx/operator_versions.h"
#include "sonnx/operators.h"

namespace lemma::sonnx {

std::string_view part_text(TensorPart part) {
    switch (part) {
        case TensorPart::Input:
            return "input";
        case TensorPart::Output:
            return "output";
        case TensorPart::Constant:
            return "constant";
        case TensorPart::Intermediate:
            return "intermediate";
    }
    return "";
}

namespace {

std::optional<int64_t> version_of(const onnx::Node& node, const View& view) {
    if (!onnx::is_default_domain(node.domain)) return std::nullopt;
    return onnx::operator_version(node.op, view.opset());
}

std::vector<OperatorUse> operators_of(const View& view) {
    std::map<std::string, OperatorUse> uses;
    for (const onnx::Node& node : view.graph().nodes) {
        const bool own = onnx::is_default_domain(node.domain);
        const std::string name = own ? node.op : node.domain + "." + node.op;
        OperatorUse& use = uses[name];
        ++use.nodes;
        if (use.nodes > 1) continue;
        use.op = name;
        use.version = version_of(node, view);
        const onnx::Operator* info = own ? onnx::find_operator(node.op) : nullptr;
        use.standing = info ? info->standing : onnx::Standing::Outside;
    }
    std::vector<OperatorUse> list;
    for (auto& [name, use] : uses) list.push_back(std::move(use));
    return list;
}

// Collects each name once.
class TensorList {
public:
    explicit TensorList(const View& view) : view_(view) {}

    void add(const std::string& name, TensorPart part, std::string meaning = {}) {
        if (name.empty() || !seen_.insert(name).second) return;
        TensorEntry entry{.name = name, .part = part, .type = "unknown", .shape = "unknown"};
        const auto type = view_.type(name);
        if (type && type->elem_type != 0) entry.type = tensor::onnx_type_name(type->elem_type);
        if (type && type->shape) entry.shape = shape_text(*type->shape);
        entry.declared = part == TensorPart::Constant || view_.declared(name) != nullptr;
        entry.meaning = std::move(meaning);
        list_.push_back(std::move(entry));
    }
    std::vector<TensorEntry> take() { return std::move(list_); }

private:
    const View& view_;
    std::unordered_set<std::string> seen_;
    std::vector<TensorEntry> list_;
};

std::vector<TensorEntry> tensors_of(const View& view) {
    const onnx::Graph& graph = view.graph();
    TensorList list(view);
    for (const onnx::ValueInfo& input : graph.inputs) {
        const bool constant = view.initializer(input.name) != nullptr;
        list.add(input.name, constant ? TensorPart::Constant : TensorPart::Input, input.doc);
    }
    for (const onnx::ValueInfo& output : graph.outputs)
        list.add(output.name, TensorPart::Output, output.doc);
    for (const onnx::Node& node : graph.nodes) {
        for (const std::string& name : node.outputs) list.add(name, TensorPart::Intermediate);
    }
    for (const onnx::TensorData& data : graph.initializers)
        list.add(data.proto.name, TensorPart::Constant);
    return list.take();
}

}  // namespace

Contents contents_of(const Subject& subject) {
    const View view(subject);
    Contents contents{.operators = operators_of(view), .tensors = tensors_of(view), .nodes = {}};
    for (size_t i = 0; i < view.graph().nodes.size(); ++i) {
        const onnx::Node& node = view.graph().nodes[i];
        contents.nodes.push_back({.index = i,
                                  .node = &node,
                                  .version = version_of(node, view),
                                  .dispositions = static_dispositions(node, view)});
    }
    return contents;
}

}  // namespace lemma::sonnx
