// SPDX-License-Identifier: Apache-2.0
// Nodes that become others: constants and shapes become initialisers, Gemm loses its
// transpositions, and a MatMul of other ranks becomes a product of two matrices.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/write.h"
#include "sonnx/defaults.h"
#include "sonnx/fix/fixer.h"
#include "sonnx/matmul.h"
#include "sonnx/operators.h"

namespace lemma::sonnx {

using diag::printable;

namespace {

// The elements of Shape: the extents from `start` to `end`, as ONNX clamps these.
Extents shape_elements(const onnx::Node& node, const Extents& shape) {
    const auto rank = static_cast<int64_t>(shape.size());
    const auto position = [&](std::string_view name, int64_t missing) {
        const int64_t given = int_attribute(node, name).value_or(missing);
        return std::clamp<int64_t>(given < 0 ? given + rank : given, 0, rank);
    };
    const int64_t start = position("start", 0);
    const int64_t end = position("end", rank);
    if (start >= end) return {};
    return {shape.begin() + start, shape.begin() + end};
}

std::optional<tensor::Tensor> transposed(const tensor::Tensor& from) {
    if (from.shape().size() != 2 || from.dtype() == tensor::DType::Str) return std::nullopt;
    const int64_t rows = from.shape()[0];
    const int64_t columns = from.shape()[1];
    auto result = tensor::Tensor::zeros(from.dtype(), {columns, rows});
    if (!result) return std::nullopt;
    const auto size = tensor::dtype_size(from.dtype());
    const std::byte* const source = from.bytes().data();
    std::byte* const target = result->bytes().data();
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < columns; ++column) {
            std::copy_n(source + (row * columns + column) * size,
                        size,
                        target + (column * rows + row) * size);
        }
    }
    return std::move(*result);
}

}  // namespace

void Fixer::add_node(Node node, const TensorType& type, std::vector<Node>& to) {
    added_types_[node.outputs[0]] = type;
    to.push_back(std::move(node));
}

// Makes the result an initialiser of the same name. Outputs of the graph stay nodes.
bool Fixer::fold(const Node& node) {
    if (node.outputs.size() != 1) return false;
    const std::string& name = node.outputs[0];
    if (name.empty() || results_.contains(name)) return false;
    std::optional<tensor::Tensor> value;
    if (node.op == "Constant") {
        value = view_.constant_tensor(name);
    } else if (node.op == "Shape") {
        const auto shape = view_.input_shape(node, 0);
        if (!shape) return false;
        const Extents items = shape_elements(node, *shape);
        if (items.empty()) return false;
        auto made = tensor::Tensor::zeros(tensor::DType::I64, {static_cast<int64_t>(items.size())});
        if (!made) return false;
        for (size_t i = 0; i < items.size(); ++i)
            made->set_integer(static_cast<int64_t>(i), items[i]);
        value = std::move(*made);
    }
    if (!value) return false;
    log(node.op == "Constant" ? "S016" : "SHAPE-1",
        node.place,
        fmt::format("`{}` is an initialiser, not the result of `{}`", printable(name), node.op));
    gone_.insert(name);
    graph().initializers.push_back(onnx::add_tensor({name, std::move(*value)}, model_));
    return true;
}

void Fixer::write_equivalent(Node& node) {
    const std::string_view instead = profile_equivalent(node, view_);
    if (instead.empty()) return;
    log("S010", node.place, fmt::format("`{}` becomes `{}`", printable(node.op), instead));
    node.op = instead;
    node.attributes.clear();
    node.inputs.resize(instead == "Add" ? 2 : 1);
    node.outputs.resize(1);
}

// The transposed matrix: a constant, or the result of a Transpose.
std::string Fixer::turned(const Node& node, size_t input, std::vector<Node>& to) {
    const std::string& from = node.inputs[input];
    std::string& name = turned_[from];
    if (!name.empty()) return name;
    if (const auto constant = view_.constant_tensor(from)) {
        if (auto tensor = transposed(*constant))
            return name = add_constant(from + "_transposed", std::move(*tensor));
    }
    name = fresh_name(from + "_transposed");
    Node transpose;
    transpose.op = "Transpose";
    transpose.name = name;
    transpose.inputs = {from};
    transpose.outputs = {name};
    transpose.attributes = {make_ints("perm", {1, 0})};
    transpose.place = node.place;
    TensorType type = view_.type(from).value_or(TensorType{});
    if (type.shape && type.shape->size() == 2) std::swap((*type.shape)[0], (*type.shape)[1]);
    add_node(std::move(transpose), type, to);
    return name;
}

void Fixer::write_gemm(Node& node, std::vector<Node>& to) {
    if (node.op != "Gemm") return;
    for (const size_t input : {size_t{0}, size_t{1}}) {
        const std::string_view name = input == 0 ? "transA" : "transB";
        if (int_attribute(node, name).value_or(0) == 0 || !has_input(node, input)) continue;
        const auto shape = view_.input_shape(node, input);
        if (!shape || shape->size() != 2) continue;
        const std::string matrix = turned(node, input, to);
        log("GEMM-2",
            node.place,
            fmt::format("`{}` is 0, and `{}` is transposed as `{}`",
                        name,
                        printable(node.inputs[input]),
                        printable(matrix)));
        node.inputs[input] = matrix;
        set(node, make_int(name, 0));
    }
}

onnx::Node Fixer::reshape(const Node& of,
                          const std::string& from,
                          const std::string& to,
                          const Extents& as) {
    constexpr int64_t kAllowZeroOpset = 14;
    Node node;
    node.op = "Reshape";
    node.name = fresh_name(to + "_reshape");
    node.inputs = {from, shape_constant(as)};
    node.outputs = {to};
    if (view_.opset() >= kAllowZeroOpset) node.attributes = {make_int("allowzero", 0)};
    node.place = of.place;
    return node;
}

// Rows of all batches are rows of one matrix. True if the node was replaced.
bool Fixer::write_matmul(const Node& node, std::vector<Node>& to) {
    constexpr int64_t kReshapeOpset = 5;
    if (node.op != "MatMul" || view_.opset() < kReshapeOpset) return false;
    const auto plan = plan_matmul_2d(node, view_);
    if (!plan) return false;
    const int64_t type = view_.type(node.inputs[0]).value_or(TensorType{}).elem_type;
    Node product = node;
    for (const size_t input : {size_t{0}, size_t{1}}) {
        const Extents& as = input == 0 ? plan->a : plan->b;
        if (view_.input_shape(node, input) == as) continue;
        const std::string name = fresh_name(node.inputs[input] + "_matrix");
        add_node(reshape(node, node.inputs[input], name, as), {.elem_type = type, .shape = as}, to);
        product.inputs[input] = name;
    }
    product.outputs = {fresh_name(node.outputs[0] + "_matrix")};
    const std::string result = product.outputs[0];
    add_node(std::move(product), {.elem_type = type, .shape = plan->y}, to);
    to.push_back(reshape(node, result, node.outputs[0], plan->result));
    log("MATMUL-1",
        node.place,
        fmt::format("the product is one of matrices {} and {}, with a `Reshape` before and after "
                    "it",
                    shape_text(plan->a),
                    shape_text(plan->b)));
    return true;
}

}  // namespace lemma::sonnx
