// SPDX-License-Identifier: Apache-2.0
// Flatten, Reshape, Unsqueeze and Slice: literal shapes and positions, nothing inferred or clamped.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diag/utf8.h"
#include "sonnx/inspection.h"
#include "sonnx/slice.h"

namespace lemma::sonnx {

namespace {

using diag::printable;

void fail_shape(Inspection& inspection,
                const onnx::Node& node,
                const Extents& actual,
                const Extents& expected) {
    inspection.fail(
        node.place,
        fmt::format(
            "the result has the shape {}, expected {}", shape_text(actual), shape_text(expected)));
}

void check_flatten(Inspection& inspection) {
    inspection.each_node("Flatten", [&](const onnx::Node& node) {
        inspection.examined();
        const auto x = inspection.view().input_shape(node, 0);
        const auto y = inspection.view().output_shape(node, 0);
        if (!x || !y) return inspection.undecided();
        const auto rank = static_cast<int64_t>(x->size());
        const int64_t given = int_attribute(node, "axis").value_or(1);
        if (given < -rank || given > rank) return;  // reported by AXIS-1
        const auto middle = x->begin() + (given < 0 ? given + rank : given);
        const auto rows = element_count({x->begin(), middle});
        const auto columns = element_count({middle, x->end()});
        if (!rows || !columns) return inspection.undecided();
        if (*y != Extents{*rows, *columns}) fail_shape(inspection, node, *y, {*rows, *columns});
    });
}

void check_literal_shape(Inspection& inspection) {
    inspection.each_node("Reshape", [&](const onnx::Node& node) {
        inspection.examined();
        const auto shape =
            has_input(node, 1) ? inspection.view().constant_ints(node.inputs[1]) : std::nullopt;
        if (!shape) return;  // reported by S017
        const auto open = std::ranges::find_if(*shape, [](int64_t item) { return item < 1; });
        if (open == shape->end()) return;
        const auto y = inspection.view().output_shape(node, 0);
        inspection.fail_maybe_fixable(y.has_value(),
                                      node.place,
                                      fmt::format("the shape `{}` is {}, expected no 0 and no -1",
                                                  printable(node.inputs[1]),
                                                  list_text(*shape)),
                                      y ? "writes " + list_text(*y) : "");
    });
}

void check_reshape(Inspection& inspection) {
    inspection.each_node("Reshape", [&](const onnx::Node& node) {
        inspection.examined();
        const auto zero = int_attribute(node, "allowzero");
        if (zero && *zero != 0 && *zero != 1) {
            inspection.fail(place_of(node, "allowzero"),
                            fmt::format("`allowzero` is {}, expected 0 or 1", *zero));
        }
        const auto x = inspection.view().input_shape(node, 0);
        const auto y = inspection.view().output_shape(node, 0);
        if (!x || !y) return inspection.undecided();
        const auto before = element_count(*x);
        const auto after = element_count(*y);
        if (before && after && *before == *after) return;
        inspection.fail(node.place,
                        fmt::format("the result has the shape {}, expected as many elements as {}",
                                    shape_text(*y),
                                    shape_text(*x)));
    });
}

void check_unsqueeze(Inspection& inspection) {
    const View& view = inspection.view();
    inspection.each_node("Unsqueeze", [&](const onnx::Node& node) {
        inspection.examined();
        auto axes = ints_attribute(node, "axes");
        if (!axes && has_input(node, 1)) axes = view.constant_ints(node.inputs[1]);
        const auto x = view.input_shape(node, 0);
        if (!axes || !x) return inspection.undecided();
        const auto rank = static_cast<int64_t>(x->size() + axes->size());
        std::set<int64_t> seen;
        for (const int64_t axis : *axes) {
            if (axis < -rank || axis >= rank) {
                return inspection.fail(
                    node.place,
                    fmt::format("the axis is {}, expected {} to {}", axis, -rank, rank - 1));
            }
            if (!seen.insert(axis < 0 ? axis + rank : axis).second) {
                return inspection.fail(
                    node.place, fmt::format("the axis {} is named twice, expected once", axis));
            }
        }
        Extents expected;
        auto extent = x->begin();
        for (int64_t axis = 0; axis < rank; ++axis)
            expected.push_back(seen.contains(axis) ? 1 : *extent++);
        const auto y = view.output_shape(node, 0);
        if (!y) return inspection.undecided();
        if (*y != expected) fail_shape(inspection, node, *y, expected);
    });
}

// ---- Slice --------------------------------------------------------------------------------------

using LookAtSlice = std::function<void(const onnx::Node&, const SliceLists&, const Extents&)>;

void each_slice(Inspection& inspection, const LookAtSlice& look) {
    inspection.each_node("Slice", [&](const onnx::Node& node) {
        inspection.examined();
        const auto lists = slice_lists(node, inspection.view());
        const auto shape = inspection.view().input_shape(node, 0);
        if (!lists || !shape) return inspection.undecided();
        look(node, *lists, *shape);
    });
}

void check_slice_lists(Inspection& inspection) {
    each_slice(
        inspection, [&](const onnx::Node& node, const SliceLists& lists, const Extents& shape) {
            if (shape.empty()) return inspection.fail(node.place, "a scalar has nothing to slice");
            if (is_valid_slice(lists, shape)) return;
            inspection.fail(node.place,
                            fmt::format("axes are {} and steps {}; expected one of each for "
                                        "every start and end, axes that differ, and no step 0",
                                        list_text(lists.axes),
                                        list_text(lists.steps)));
        });
}

void check_slice_axes(Inspection& inspection) {
    each_slice(
        inspection, [&](const onnx::Node& node, const SliceLists& lists, const Extents& shape) {
            if (lists.axes.size() == shape.size()) return;
            inspection.fail_maybe_fixable(
                explicit_slice(lists, shape).has_value(),
                node.place,
                fmt::format(
                    "`axes` names {} axes, expected all {}", lists.axes.size(), shape.size()),
                "writes the lists of all axes");
        });
}

// What is wrong with the range of one axis; empty: nothing.
std::string range_fault(int64_t start, int64_t end, int64_t step, int64_t extent) {
    if (start < -extent || start >= extent)
        return fmt::format("the start is {}, expected {} to {}", start, -extent, extent - 1);
    const int64_t low = step > 0 ? -extent : -extent - 1;
    const int64_t high = step > 0 ? extent : extent - 1;
    if (end < low || end > high)
        return fmt::format("the end is {}, expected {} to {}", end, low, high);
    const int64_t from = start < 0 ? start + extent : start;
    const int64_t to = end < 0 ? end + extent : end;
    if (step > 0 ? from >= to : from <= to)
        return fmt::format("nothing lies between {} and {}", start, end);
    return "";
}

void check_slice_range(Inspection& inspection) {
    each_slice(
        inspection, [&](const onnx::Node& node, const SliceLists& lists, const Extents& shape) {
            if (!is_valid_slice(lists, shape)) return;  // reported by SLICE-3
            const auto rank = static_cast<int64_t>(shape.size());
            for (size_t i = 0; i < lists.axes.size(); ++i) {
                const int64_t axis = lists.axes[i] < 0 ? lists.axes[i] + rank : lists.axes[i];
                const int64_t extent = shape[static_cast<size_t>(axis)];
                const std::string fault =
                    range_fault(lists.starts[i], lists.ends[i], lists.steps[i], extent);
                if (fault.empty()) continue;
                inspection.fail_maybe_fixable(
                    explicit_slice(lists, shape).has_value(),
                    node.place,
                    fmt::format("on axis {} of extent {}, {}", axis, extent, fault),
                    "writes the position that ONNX takes");
            }
        });
}

}  // namespace

std::vector<Rule> layout_rules() {
    using enum Severity;
    return {
        {"FLATTEN-1",
         "",
         Violation,
         "the result of Flatten has the axes before and from `axis` as rows and columns",
         "it is a copy in the order of the file",
         "Flatten, Outputs",
         check_flatten,
         "Flatten",
         k2026_08},
        {"RESHAPE-1",
         "",
         Restriction,
         "the shape of Reshape is literal: no 0 and no -1",
         "nothing about a shape is left to inference",
         "Reshape, S",
         check_literal_shape,
         "Reshape",
         kOwn},
        {"RESHAPE-2",
         "",
         Violation,
         "Reshape keeps the number of elements, and `allowzero` is 0 or 1",
         "it is a copy in the order of the file",
         "Reshape, constraints of allowzero and X",
         check_reshape,
         "Reshape",
         k2026_08},
        {"UNSQUEEZE-1",
         "",
         Violation,
         "the axes of Unsqueeze differ and lie in the result",
         "each one is inserted once",
         "Unsqueeze, C1 and C2 of the axes",
         check_unsqueeze,
         "Unsqueeze",
         k2026_08},
        {"SLICE-1",
         "",
         Restriction,
         "Slice names every axis",
         "axes that are left out keep all elements, which is a default",
         "Slice, R2",
         check_slice_axes,
         "Slice",
         k2026_08},
        {"SLICE-2",
         "",
         Restriction,
         "starts and ends of Slice lie on the axis, and something lies between them",
         "ONNX moves other positions to the nearest one, silently",
         "Slice, R6, R7, R8 and constraints of starts and ends",
         check_slice_range,
         "Slice",
         k2026_08},
        {"SLICE-3",
         "",
         Violation,
         "the lists of Slice have one length, its axes differ and exist, and no step is 0",
         "each axis is sliced once",
         "Slice, constraints of axes and steps",
         check_slice_lists,
         "Slice",
         k2026_08},
    };
}

}  // namespace lemma::sonnx
