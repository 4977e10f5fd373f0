// SPDX-License-Identifier: Apache-2.0
#include "sonnx/matmul.h"

namespace lemma::sonnx {

std::optional<MatMul2d> plan_matmul_2d(const onnx::Node& node, const View& view) {
    if (node.op != "MatMul") return std::nullopt;
    const auto a = view.input_shape(node, 0);
    const auto b = view.input_shape(node, 1);
    const auto result = view.output_shape(node, 0);
    if (!a || !b || !result || a->empty() || b->empty()) return std::nullopt;
    if (a->size() == 2 && b->size() == 2) return std::nullopt;
    const bool column = b->size() == 1;
    const Extents matrix = column ? Extents{(*b)[0], 1} : Extents(b->end() - 2, b->end());
    const auto batches = element_count({b->begin(), b->end() - (column ? 1 : 2)});
    const auto rows = element_count({a->begin(), a->end() - 1});
    if (batches != 1 || !rows || a->back() != matrix[0]) return std::nullopt;
    MatMul2d plan{.a = {*rows, a->back()}, .b = matrix, .y = {*rows, matrix[1]}, .result = *result};
    return element_count(plan.y) == element_count(*result) ? std::optional(plan) : std::nullopt;
}

}  // namespace lemma::sonnx
