// SPDX-License-Identifier: Apache-2.0
#include "sonnx/operators.h"

#include <algorithm>

namespace lemma::sonnx {

const onnx::Operator* profile_operator(std::string_view op) {
    const onnx::Operator* const found = onnx::find_operator(op);
    return found && found->standing != onnx::Standing::Outside ? found : nullptr;
}

std::vector<size_t> same_type_inputs(const onnx::Operator& op, const onnx::Node& node) {
    std::vector<size_t> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        const bool counts = op.same_type.size() == 1
                                ? i >= *op.same_type.begin()
                                : std::ranges::find(op.same_type, i) != op.same_type.end();
        if (counts && has_input(node, i)) inputs.push_back(i);
    }
    return inputs;
}

std::optional<size_t> axes_input(const onnx::Operator& op, const onnx::Node& node) {
    for (const onnx::Steering& steering : op.steering) {
        if (steering.attribute == "axes" && has_input(node, steering.input)) return steering.input;
    }
    return std::nullopt;
}

std::string_view profile_equivalent(const onnx::Node& node, const View& view) {
    constexpr int64_t kLastIsTest = 6;  // from then on, a Dropout says when it trains
    if (!onnx::is_default_domain(node.domain)) return "";
    const auto given = static_cast<size_t>(
        std::ranges::count_if(node.inputs, [](const std::string& name) { return !name.empty(); }));
    if (node.op == "Sum" && given == node.inputs.size()) {
        if (given == 1) return "Identity";
        return given == 2 ? "Add" : "";
    }
    const bool has_mask = node.outputs.size() > 1 && view.is_used(node.outputs[1]);
    if (node.op != "Dropout" || has_input(node, 2) || has_mask) return "";
    return view.opset() > kLastIsTest ? "Identity" : "";
}

bool gives_result_shape(const onnx::Node& node, size_t input) {
    if (node.op == "Reshape" || node.op == "Expand") return input == 1;
    return node.op == "ConstantOfShape" && input == 0;
}

// Unsqueeze counts the axes of its result, which are known by the number of those it adds, and so
// does OneHot. Operators outside of the profile may count what they like.
std::optional<int64_t> counted_axes(const onnx::Node& node, const View& view) {
    const auto shape = view.input_shape(node, 0);
    if (!shape || !onnx::is_default_domain(node.domain)) return std::nullopt;
    const auto rank = static_cast<int64_t>(shape->size());
    if (node.op == "OneHot") return rank + 1;
    if (!profile_operator(node.op)) return std::nullopt;
    if (node.op != "Unsqueeze") return rank;
    auto axes = ints_attribute(node, "axes");
    if (!axes && has_input(node, 1)) axes = view.constant_ints(node.inputs[1]);
    if (!axes) return std::nullopt;
    return rank + static_cast<int64_t>(axes->size());
}

}  // namespace lemma::sonnx
