// SPDX-License-Identifier: Apache-2.0
// Operators along an axis (Softmax, ArgMax, Flatten) and BatchNormalization.
#include <fmt/format.h>

#include <array>
#include <set>

#include "diag/utf8.h"
#include "sonnx/inspection.h"

namespace lemma::sonnx {

namespace {

using diag::printable;

void check_axis(Inspection& inspection) {
    for (const std::string_view op : {"ArgMax", "Flatten", "Softmax"}) {
        inspection.each_node(op, [&](const onnx::Node& node) {
            inspection.examined();
            const auto axis = int_attribute(node, "axis");
            if (!axis) return;  // reported by GR4
            const auto shape = inspection.view().input_shape(node, 0);
            if (!shape) return inspection.undecided();
            const auto rank = static_cast<int64_t>(shape->size());
            const int64_t last = op == "Flatten" ? rank : rank - 1;
            if (*axis >= -rank && *axis <= last) return;
            inspection.fail(place_of(node, "axis"),
                            fmt::format("the axis is {}, expected {} to {}", *axis, -rank, last));
        });
    }
}

void check_arg_max(Inspection& inspection) {
    inspection.each_node("ArgMax", [&](const onnx::Node& node) {
        inspection.examined();
        for (const std::string_view name : {"keepdims", "select_last_index"}) {
            const auto value = int_attribute(node, name);
            if (!value || *value == 0 || *value == 1) continue;
            inspection.fail(place_of(node, name),
                            fmt::format("`{}` is {}, expected 0 or 1", name, *value));
        }
        const auto x = inspection.view().input_shape(node, 0);
        const auto y = inspection.view().output_shape(node, 0);
        if (!x || !y) return inspection.undecided();
        const auto rank = static_cast<int64_t>(x->size());
        const int64_t given = int_attribute(node, "axis").value_or(0);
        if (given < -rank || given >= rank) return;  // reported by AXIS-1
        const auto axis = x->begin() + (given < 0 ? given + rank : given);
        Extents expected(x->begin(), axis);
        if (int_attribute(node, "keepdims").value_or(1) != 0) expected.push_back(1);
        expected.insert(expected.end(), axis + 1, x->end());
        if (*y == expected) return;
        inspection.fail(
            node.place,
            fmt::format(
                "the result has the shape {}, expected {}", shape_text(*y), shape_text(expected)));
    });
}

// ---- BatchNormalization -------------------------------------------------------------------------

constexpr std::string_view kBatchNorm = "BatchNormalization";
constexpr size_t kVariance = 4;

void check_epsilon(Inspection& inspection) {
    inspection.each_node(kBatchNorm, [&](const onnx::Node& node) {
        inspection.examined();
        const auto epsilon = float_attribute(node, "epsilon");
        if (!epsilon) return;  // reported by GR4
        const auto type =
            has_input(node, 0) ? inspection.view().type(node.inputs[0]) : std::nullopt;
        const auto dtype = type ? tensor::dtype_of_onnx(type->elem_type) : std::nullopt;
        if (!dtype || !tensor::is_real(*dtype)) return inspection.undecided();
        auto kept = tensor::Tensor::zeros(*dtype, {1});
        if (!kept) return inspection.undecided();
        kept->set_real(0, *epsilon);
        if (kept->real(0) > 0) return;
        inspection.fail(place_of(node, "epsilon"),
                        fmt::format("`epsilon` {} is {} as {}, expected more than 0",
                                    *epsilon,
                                    kept->real(0),
                                    tensor::onnx_type_name(type->elem_type)));
    });
}

void check_channels(Inspection& inspection) {
    constexpr std::array<std::string_view, 5> kNames = {
        "X", "scale", "B", "input_mean", "input_var"};
    inspection.each_node(kBatchNorm, [&](const onnx::Node& node) {
        inspection.examined();
        const auto x = inspection.view().input_shape(node, 0);
        if (!x) return inspection.undecided();
        if (x->empty())
            return inspection.fail(node.place, "`X` is a scalar, expected rank 1 or more");
        const Extents expected = {x->size() == 1 ? 1 : (*x)[1]};
        for (size_t i = 1; i < kNames.size(); ++i) {
            const auto shape = inspection.view().input_shape(node, i);
            if (!shape) {
                inspection.undecided();
            } else if (*shape != expected) {
                inspection.fail(node.place,
                                fmt::format("`{}` has the shape {}, expected {} (the channels)",
                                            kNames[i],
                                            shape_text(*shape),
                                            expected[0]));
            }
        }
    });
}

void check_variance(Inspection& inspection) {
    std::set<std::string> seen;  // a constant is read once, however many nodes use it
    inspection.each_node(kBatchNorm, [&](const onnx::Node& node) {
        inspection.examined();
        if (!has_input(node, kVariance)) return;
        const std::string& name = node.inputs[kVariance];
        if (!seen.insert(name).second) return;
        const auto variance = inspection.view().constant_tensor(name);
        if (!variance || !tensor::is_real(variance->dtype())) return;  // known at run time only
        for (int64_t i = 0; i < variance->size(); ++i) {
            if (variance->real(i) >= 0) continue;
            return inspection.fail(node.place,
                                   fmt::format("element {} of the variance `{}` is {}, expected 0 "
                                               "or more",
                                               i,
                                               printable(name),
                                               variance->real(i)));
        }
    });
}

}  // namespace

std::vector<Rule> norm_rules() {
    using enum Severity;
    return {
        {"AXIS-1",
         "",
         Violation,
         "the axis of Softmax, ArgMax and Flatten exists",
         "the operator works along it",
         "Softmax, ArgMax and Flatten, constraints of axis",
         check_axis,
         "",
         k2026_08},
        {"ARGMAX-1",
         "",
         Violation,
         "`keepdims` and `select_last_index` of ArgMax are 0 or 1, and the result has the other "
         "axes",
         "the index replaces the axis",
         "ArgMax, constraints of the attributes and of Y",
         check_arg_max,
         "ArgMax",
         k2026_08},
        {"BN-1",
         "",
         Restriction,
         "`epsilon` of BatchNormalization is more than 0, in the element type too",
         "it keeps the divisor away from 0",
         "BatchNormalization, C1 of epsilon",
         check_epsilon,
         kBatchNorm,
         k2026_08},
        {"BN-2",
         "",
         Violation,
         "scale, B, mean and variance of BatchNormalization have one element for each channel",
         "each channel has its own",
         "BatchNormalization, constraints of X, scale, B, input_mean and input_var",
         check_channels,
         kBatchNorm,
         k2026_08},
        {"BN-3",
         "",
         Restriction,
         "no element of a constant variance is negative",
         "the formula takes its square root",
         "BatchNormalization, constraints of input_var",
         check_variance,
         kBatchNorm,
         k2026_08},
    };
}

}  // namespace lemma::sonnx
