#include "sonnx/operators.h"

#include <algorithm>
#include <unordered_map>

namespace lemma::sonnx {

namespace {

using enum Standing;
using B = BroadcastKind;

// REQ-OP-000 in the spelling of ONNX (Dense and FullyConnected are MatMul and Add, or Gemm), then
// the operators that the working group wrote drafts for.
const std::vector<OperatorInfo>& table() {
    static const std::vector<OperatorInfo> kTable = {
        {"Abs"},
        {"Add", Selected, B::All, {0}},
        {"Cast"},
        {"Clip", Selected, B::None, {0}},
        {"Concat", Selected, B::None, {0}},
        {"Constant"},
        {"ConstantOfShape", Selected, B::None, {}, {0}},
        {"Conv", Selected, B::None, {0}},
        {"ConvTranspose", Selected, B::None, {0}},
        {"Div", Selected, B::All, {0}},
        {"Equal", Selected, B::All, {0}},
        {"Erf"},
        {"Exp"},
        {"Expand", Selected, B::None, {}, {1}},
        {"Flatten"},
        {"GRU", Selected, B::None, {0, 1, 2, 3, 5}},
        {"Gather"},
        {"Gemm", Selected, B::GemmC, {0}},
        {"GlobalAveragePool"},
        {"HardSwish"},
        {"Identity"},
        {"LSTM", Selected, B::None, {0, 1, 2, 3, 5, 6, 7}},
        {"LeakyRelu"},
        {"Less", Selected, B::All, {0}},
        {"Log"},
        {"MatMul", Selected, B::MatMul, {0}},
        {"Max", Selected, B::All, {0}},
        {"MaxPool"},
        {"Min", Selected, B::All, {0}},
        {"Mod", Selected, B::All, {0}},
        {"Mul", Selected, B::All, {0}},
        {"Neg"},
        {"Not"},
        {"Pad", Selected, B::None, {0, 2}, {1, 3}, 3},
        {"Pow", Selected, B::All},
        {"Range", Selected, B::None, {0}, {0, 1, 2}},
        {"ReduceMean", Selected, B::None, {}, {1}, 1},
        {"ReduceSum", Selected, B::None, {}, {1}, 1},
        {"Relu"},
        {"Reshape", Selected, B::None, {}, {1}},
        {"Resize", Selected, B::None, {}, {1, 2, 3}},
        {"ScatterND", Selected, B::None, {0, 2}},
        {"Shape"},
        {"Sigmoid"},
        {"Slice", Selected, B::None, {1}, {1, 2, 3, 4}, 3},
        {"Softmax"},
        {"Softplus"},
        {"Split", Selected, B::None, {}, {1}},
        {"Sqrt"},
        {"Squeeze", Selected, B::None, {}, {1}, 1},
        {"Sub", Selected, B::All, {0}},
        {"Tanh"},
        {"Transpose"},
        {"Unsqueeze", Selected, B::None, {}, {1}, 1},
        {"Where", Selected, B::All, {1}},
        {"Acos", Draft},
        {"ArgMax", Draft},
        {"Asin", Draft},
        {"Atan", Draft},
        {"BatchNormalization", Draft},
        {"ConvInteger", Draft},
        {"DequantizeLinear", Draft},
        {"QuantizeLinear", Draft},
        {"Sin", Draft},
    };
    return kTable;
}

}  // namespace

const OperatorInfo* find_operator(std::string_view op) {
    static const auto kByName = [] {
        std::unordered_map<std::string_view, const OperatorInfo*> map;
        for (const OperatorInfo& info : table()) map.emplace(info.name, &info);
        return map;
    }();
    const auto found = kByName.find(op);
    return found == kByName.end() ? nullptr : found->second;
}

std::vector<size_t> same_type_inputs(const OperatorInfo& info, const onnx::Node& node) {
    std::vector<size_t> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        const bool counts = info.same_type.size() == 1
                                ? i >= info.same_type[0]
                                : std::ranges::find(info.same_type, i) != info.same_type.end();
        if (counts && has_input(node, i)) inputs.push_back(i);
    }
    return inputs;
}

// Unsqueeze counts the axes of its result, which are known by the number of those it adds, and so
// does OneHot. Operators outside of the profile may count what they like.
std::optional<int64_t> counted_axes(const onnx::Node& node, const View& view) {
    const auto shape = view.input_shape(node, 0);
    if (!shape || !onnx::is_default_domain(node.domain)) return std::nullopt;
    const auto rank = static_cast<int64_t>(shape->size());
    if (node.op == "OneHot") return rank + 1;
    if (!find_operator(node.op)) return std::nullopt;
    if (node.op != "Unsqueeze") return rank;
    auto axes = ints_attribute(node, "axes");
    if (!axes && has_input(node, 1)) axes = view.constant_ints(node.inputs[1]);
    if (!axes) return std::nullopt;
    return rank + static_cast<int64_t>(axes->size());
}

bool is_stochastic(std::string_view op) {
    return op == "RandomNormal" || op == "RandomNormalLike" || op == "RandomUniform" ||
           op == "RandomUniformLike" || op == "Bernoulli" || op == "Multinomial";
}

}  // namespace lemma::sonnx
