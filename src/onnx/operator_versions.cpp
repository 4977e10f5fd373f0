// SPDX-License-Identifier: Apache-2.0
#include "onnx/operator_versions.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace lemma::onnx {

namespace {

struct Row {
    std::string_view op;
    std::initializer_list<int64_t> versions;
};

// Facts of the ONNX change log, up to operator set 26.
const std::initializer_list<Row> kRows = {
    {"Abs", {1, 6, 13}},
    {"Acos", {7, 22}},
    {"Add", {1, 6, 7, 13, 14}},
    {"ArgMax", {1, 11, 12, 13}},
    {"Asin", {7, 22}},
    {"Atan", {7, 22}},
    {"BatchNormalization", {1, 6, 7, 9, 14, 15}},
    {"Cast", {1, 6, 9, 13, 19, 21, 23, 24, 25}},
    {"Clip", {1, 6, 11, 12, 13}},
    {"Concat", {1, 4, 11, 13}},
    {"Constant", {1, 9, 11, 12, 13, 19, 21, 23, 24, 25}},
    {"ConstantOfShape", {9, 20, 21, 23, 24, 25}},
    {"Conv", {1, 11, 22}},
    {"ConvInteger", {10}},
    {"ConvTranspose", {1, 11, 22}},
    {"DequantizeLinear", {10, 13, 19, 21, 23, 24, 25}},
    {"Div", {1, 6, 7, 13, 14}},
    {"Equal", {1, 7, 11, 13, 19}},
    {"Erf", {9, 13}},
    {"Exp", {1, 6, 13}},
    {"Expand", {8, 13}},
    {"Flatten", {1, 9, 11, 13, 21, 23, 24, 25}},
    {"GRU", {1, 3, 7, 14, 22}},
    {"Gather", {1, 11, 13}},
    {"Gemm", {1, 6, 7, 9, 11, 13}},
    {"GlobalAveragePool", {1, 22}},
    {"HardSwish", {14, 22}},
    {"Identity", {1, 13, 14, 16, 19, 21, 23, 24, 25}},
    {"LSTM", {1, 7, 14, 22}},
    {"LeakyRelu", {1, 6, 16}},
    {"Less", {1, 7, 9, 13}},
    {"Log", {1, 6, 13}},
    {"MatMul", {1, 9, 13}},
    {"Max", {1, 6, 8, 12, 13}},
    {"MaxPool", {1, 8, 10, 11, 12, 22}},
    {"Min", {1, 6, 8, 12, 13}},
    {"Mod", {10, 13}},
    {"Mul", {1, 6, 7, 13, 14}},
    {"Neg", {1, 6, 13}},
    {"Not", {1}},
    {"Pad", {1, 2, 11, 13, 18, 19, 21, 23, 24, 25}},
    {"Pow", {1, 7, 12, 13, 15}},
    {"QuantizeLinear", {10, 13, 19, 21, 23, 24, 25}},
    {"Range", {11}},
    {"ReduceMean", {1, 11, 13, 18}},
    {"ReduceSum", {1, 11, 13}},
    {"Relu", {1, 6, 13, 14}},
    {"Reshape", {1, 5, 13, 14, 19, 21, 23, 24, 25}},
    {"Resize", {10, 11, 13, 18, 19}},
    {"ScatterND", {11, 13, 16, 18}},
    {"Shape", {1, 13, 15, 19, 21, 23, 24, 25}},
    {"Sigmoid", {1, 6, 13}},
    {"Sin", {7, 22}},
    {"Slice", {1, 10, 11, 13}},
    {"Softmax", {1, 11, 13}},
    {"Softplus", {1, 22}},
    {"Split", {1, 2, 11, 13, 18}},
    {"Sqrt", {1, 6, 13}},
    {"Squeeze", {1, 11, 13, 21, 23, 24, 25}},
    {"Sub", {1, 6, 7, 13, 14}},
    {"Tanh", {1, 6, 13}},
    {"Transpose", {1, 13, 21, 23, 24, 25}},
    {"Unsqueeze", {1, 11, 13, 21, 23, 24, 25}},
    {"Where", {9, 16}},
};

}  // namespace

std::span<const OperatorVersions> operator_versions() {
    static const std::vector<OperatorVersions> kVersions = [] {
        std::vector<OperatorVersions> all;
        for (const Row& row : kRows)
            all.push_back({row.op, {row.versions.begin(), row.versions.size()}});
        return all;
    }();
    return kVersions;
}

std::optional<int64_t> operator_version(std::string_view op, int64_t opset) {
    const auto all = operator_versions();
    const auto found = std::ranges::lower_bound(all, op, {}, &OperatorVersions::op);
    if (found == all.end() || found->op != op) return std::nullopt;
    const auto newer = std::ranges::upper_bound(found->versions, opset);
    if (newer == found->versions.begin()) return std::nullopt;
    return *std::prev(newer);
}

}  // namespace lemma::onnx
