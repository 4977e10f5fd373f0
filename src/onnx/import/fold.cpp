// SPDX-License-Identifier: Apache-2.0
#include "onnx/import/fold.h"

#include <algorithm>

#include "onnx/operators.h"

namespace lemma::onnx {

std::optional<std::vector<Scalar>> FoldCall::items(size_t index,
                                                   const std::string& attribute) const {
    if (const ConstantValue* const known = input(index)) return known->items;
    return attributes.list(attribute);
}

std::optional<std::vector<int64_t>> FoldCall::ints(size_t index,
                                                   const std::string& attribute) const {
    const auto values = items(index, attribute);
    return values ? as_ints(*values) : std::nullopt;
}

namespace {

FoldFunction find_fold(const std::string& op) {
    const FoldFunction function = find_elementwise_fold(op);
    return function ? function : find_movement_fold(op);
}

std::string_view reduces_by(const std::string& op) {
    const Operator* const row = find_operator(op);
    return row ? row->reduces_by : std::string_view();
}

}  // namespace

bool has_fold_code(const std::string& op) { return find_fold(op) != nullptr; }

bool can_fold(const std::string& op) { return has_fold_code(op) || !reduces_by(op).empty(); }

Folded fold(const FoldCall& call) {
    const FoldFunction function = find_fold(call.op);
    const std::string_view by = reduces_by(call.op);
    if (!function && by.empty()) return std::nullopt;
    Folded results = function ? function(call) : fold_reduction(call, by);
    if (!results) return std::nullopt;
    for (const ConstantValue& known : *results) {
        if (known.size() > kMaxKnownItems) return std::nullopt;
    }
    return results;
}

std::optional<size_t> front_axis(int64_t axis, size_t rank) {
    const auto count = static_cast<int64_t>(rank);
    if (axis < 0) axis += count;
    if (axis < 0 || axis >= count) return std::nullopt;
    return static_cast<size_t>(axis);
}

std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b) {
    Shape result(std::max(a.size(), b.size()));
    for (size_t i = 0; i < result.size(); ++i) {
        const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
        const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x != y && x != 1 && y != 1) return std::nullopt;
        result[result.size() - 1 - i] = x == 1 ? y : x;
    }
    const auto volume = tensor::volume(result);
    if (!volume || *volume > kMaxKnownItems) return std::nullopt;
    return result;
}

int64_t broadcast_index(int64_t index, const Shape& shape, const Shape& from) {
    int64_t result = 0;
    int64_t stride = 1;
    for (size_t i = 0; i < shape.size(); ++i) {
        const int64_t extent = shape[shape.size() - 1 - i];
        const int64_t at = index % extent;
        index /= extent;
        if (i >= from.size()) continue;
        const int64_t own = from[from.size() - 1 - i];
        if (own != 1) result += at * stride;
        stride *= own;
    }
    return result;
}

}  // namespace lemma::onnx
