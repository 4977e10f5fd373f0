// SPDX-License-Identifier: Apache-2.0
#include "sonnx/broadcast.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonnx/operators.h"

namespace lemma::sonnx {

namespace {

using Given = std::vector<std::pair<size_t, Extents>>;  // inputs with their shapes

std::string shapes_text(const Given& given) {
    constexpr size_t kMaxShown = 8;
    std::string text;
    for (size_t i = 0; i < std::min(given.size(), kMaxShown); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", shape_text(given[i].second));
    return given.size() > kMaxShown ? text + ", …" : text;
}

void plan_all(const Given& given, BroadcastPlan& plan) {
    std::vector<Extents> shapes;
    for (const auto& [input, shape] : given) shapes.push_back(shape);
    const auto common = common_shape(shapes);
    if (!common) {
        plan.conflict = fmt::format("the shapes {} have no common shape", shapes_text(given));
        return;
    }
    for (const auto& [input, shape] : given) {
        if (shape != *common) plan.expansions.push_back({input, shape, *common});
    }
}

// The axes before the last two; broadcasting does not concern vectors.
void plan_matmul(const Given& given, BroadcastPlan& plan) {
    if (given.size() != 2) return;
    std::vector<Extents> batches;
    for (const auto& [input, shape] : given) {
        if (shape.size() < 2) return;
        batches.emplace_back(shape.begin(), shape.end() - 2);
    }
    const auto common = common_shape(batches);
    if (!common) {
        plan.conflict =
            fmt::format("the leading axes of {} have no common shape", shapes_text(given));
        return;
    }
    for (const auto& [input, shape] : given) {
        Extents target = *common;
        target.insert(target.end(), shape.end() - 2, shape.end());
        if (target != shape) plan.expansions.push_back({input, shape, target});
    }
}

// The third input is broadcast to the shape of the product, not the other way.
void plan_gemm(const onnx::Node& node, const Given& given, BroadcastPlan& plan) {
    if (given.size() != 3 || given[0].second.size() != 2 || given[1].second.size() != 2) return;
    const bool turn_a = int_attribute(node, "transA").value_or(0) != 0;
    const bool turn_b = int_attribute(node, "transB").value_or(0) != 0;
    const Extents product = {given[0].second[turn_a ? 1 : 0], given[1].second[turn_b ? 0 : 1]};
    const Extents& c = given[2].second;
    const auto common = common_shape({c, product});
    if (!common || *common != product) {
        plan.conflict =
            fmt::format("{} does not broadcast to {}", shape_text(c), shape_text(product));
    } else if (c != product) {
        plan.expansions.push_back({2, c, product});
    }
}

}  // namespace

std::optional<Extents> common_shape(const std::vector<Extents>& shapes) {
    size_t rank = 0;
    for (const Extents& shape : shapes) rank = std::max(rank, shape.size());
    Extents common(rank, 1);
    for (const Extents& shape : shapes) {
        const size_t shift = rank - shape.size();
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            int64_t& extent = common[shift + axis];
            if (shape[axis] == extent || shape[axis] == 1) continue;
            if (extent != 1) return std::nullopt;
            extent = shape[axis];
        }
    }
    return common;
}

BroadcastPlan plan_broadcast(const onnx::Node& node, const View& view) {
    BroadcastPlan plan;
    const onnx::Operator* info = profile_operator(node.op);
    if (!info || info->broadcast == onnx::BroadcastKind::None) return plan;
    plan.applies = true;
    Given given;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (!has_input(node, i)) continue;
        auto shape = view.shape(node.inputs[i]);
        if (!shape) {
            plan.undecided = true;
            return plan;
        }
        given.emplace_back(i, std::move(*shape));
    }
    switch (info->broadcast) {
        case onnx::BroadcastKind::MatMul:
            plan_matmul(given, plan);
            break;
        case onnx::BroadcastKind::GemmC:
            plan_gemm(node, given, plan);
            break;
        default:
            plan_all(given, plan);
    }
    return plan;
}

}  // namespace lemma::sonnx
