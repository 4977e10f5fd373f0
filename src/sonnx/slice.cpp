// SPDX-License-Identifier: Apache-2.0
#include "sonnx/slice.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace lemma::sonnx {

std::optional<SliceLists> slice_lists(const onnx::Node& node, const View& view) {
    if (!has_input(node, 1) || !has_input(node, 2)) return std::nullopt;
    SliceLists lists;
    const auto read = [&](size_t index, Extents& to) {
        if (!has_input(node, index)) return true;
        auto values = view.constant_ints(node.inputs[index]);
        if (values) to = std::move(*values);
        return values.has_value();
    };
    if (!read(1, lists.starts) || !read(2, lists.ends)) return std::nullopt;
    lists.axes.resize(lists.starts.size());
    std::iota(lists.axes.begin(), lists.axes.end(), 0);
    lists.steps.assign(lists.starts.size(), 1);
    if (!read(3, lists.axes) || !read(4, lists.steps)) return std::nullopt;
    return lists;
}

bool is_valid_slice(const SliceLists& lists, const Extents& shape) {
    const size_t count = lists.starts.size();
    if (lists.ends.size() != count || lists.axes.size() != count || lists.steps.size() != count)
        return false;
    const auto rank = static_cast<int64_t>(shape.size());
    std::set<int64_t> seen;
    for (size_t i = 0; i < count; ++i) {
        const int64_t axis = lists.axes[i];
        if (axis < -rank || axis >= rank || lists.steps[i] == 0) return false;
        if (!seen.insert(axis < 0 ? axis + rank : axis).second) return false;
    }
    return true;
}

namespace {

// Counted from the front and moved into [low, high].
int64_t position(int64_t value, int64_t extent, int64_t low, int64_t high) {
    return std::clamp(value < 0 ? value + extent : value, low, high);
}

}  // namespace

std::optional<SliceLists> explicit_slice(const SliceLists& lists, const Extents& shape) {
    if (!is_valid_slice(lists, shape)) return std::nullopt;
    SliceLists result;
    result.starts.assign(shape.size(), 0);
    result.ends = shape;
    result.axes.resize(shape.size());
    std::iota(result.axes.begin(), result.axes.end(), 0);
    result.steps.assign(shape.size(), 1);
    for (size_t i = 0; i < lists.axes.size(); ++i) {
        const int64_t given = lists.axes[i];
        const auto axis =
            static_cast<size_t>(given < 0 ? given + static_cast<int64_t>(shape.size()) : given);
        const int64_t extent = shape[axis];
        const bool forward = lists.steps[i] > 0;
        const int64_t start = position(lists.starts[i], extent, 0, forward ? extent : extent - 1);
        const int64_t end =
            position(lists.ends[i], extent, forward ? 0 : -1, forward ? extent : extent - 1);
        if (forward ? start >= end : start <= end) return std::nullopt;
        result.starts[axis] = start;
        // Before the first element: -1 would be the last one.
        result.ends[axis] = end == -1 ? -extent - 1 : end;
        result.steps[axis] = lists.steps[i];
    }
    return result;
}

}  // namespace lemma::sonnx
