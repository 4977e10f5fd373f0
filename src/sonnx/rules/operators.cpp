// SPDX-License-Identifier: Apache-2.0
// Rules about nodes of every operator: which are allowed, and that nothing about them is implicit.
#include "sonnx/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "diag/utf8.h"
#include "sonnx/defaults.h"
#include "sonnx/inspection.h"
#include "sonnx/optional_inputs.h"

namespace lemma::sonnx {

onnx::PathSpan place_of(const onnx::Node& node, std::string_view attribute) {
    const onnx::Attribute* found = onnx::find_attribute(node, attribute);
    return found ? found->place : node.place;
}

namespace {

using diag::printable;

void check_allowed(Inspection& inspection) {
    for (const onnx::Node& node : inspection.graph().nodes) {
        inspection.examined();
        if (!profile_operator(node.op) || !onnx::is_default_domain(node.domain)) {
            const std::string_view instead = profile_equivalent(node, inspection.view());
            inspection.fail_maybe_fixable(
                !instead.empty(),
                node.place,
                fmt::format("the operator `{}` is not in the profile", printable(node.op)),
                fmt::format("writes `{}`", instead));
        }
    }
}

void check_draft(Inspection& inspection) {
    std::map<std::string_view, int64_t> drafts;  // number of nodes
    std::vector<const onnx::Node*> first;
    for (const onnx::Node& node : inspection.graph().nodes) {
        const onnx::Operator* info = profile_operator(node.op);
        if (!info) continue;
        inspection.examined();
        if (info->standing == onnx::Standing::Draft && drafts[node.op]++ == 0)
            first.push_back(&node);
    }
    for (const onnx::Node* node : first) {
        const int64_t count = drafts[node->op];
        inspection.fail(node->place,
                        fmt::format("`{}` has a draft, but is not in the list of selected "
                                    "operators ({} {})",
                                    node->op,
                                    count,
                                    count == 1 ? "node" : "nodes"));
    }
}

void check_defaults(Inspection& inspection) {
    const View& view = inspection.view();
    for (const onnx::Node& node : inspection.graph().nodes) {
        inspection.examined();
        for (const MissingAttribute& missing : missing_attributes(node, view)) {
            const std::string message =
                fmt::format("the attribute `{}` of `{}` is left out", missing.name, node.op);
            if (missing.value) {
                const std::string value = value_text(*missing.value);
                inspection.fail_fixable(node.place,
                                        fmt::format("{}; ONNX takes `{}`", message, value),
                                        fmt::format("writes `{}`", value));
            } else {
                inspection.fail(node.place, message);
            }
        }
        for (const MissingInput& missing : missing_inputs(node, view)) {
            inspection.fail_maybe_fixable(
                missing.value.has_value(),
                node.place,
                fmt::format("the input `{}` of `{}` is left out", missing.name, node.op),
                "adds a constant with the same meaning");
        }
    }
}

// Inputs to which ONNX gives type variables of their own, so that their types may differ.
struct MixedTypes {
    std::string_view op;
    size_t inputs;  // that many, from the first one on
};
constexpr MixedTypes kMixedTypes[] = {{"BatchNormalization", 5}, {"Pow", 2}};

void check_conversions(Inspection& inspection) {
    const View& view = inspection.view();
    for (const onnx::Node& node : inspection.graph().nodes) {
        inspection.examined();
        const auto row = std::ranges::find(kMixedTypes, node.op, &MixedTypes::op);
        if (row == std::end(kMixedTypes) || !onnx::is_default_domain(node.domain)) continue;
        std::optional<int64_t> first;
        for (size_t i = 0; i < row->inputs && has_input(node, i); ++i) {
            const auto type = view.type(node.inputs[i]);
            if (!type || type->elem_type == 0) {
                inspection.undecided();
                break;
            }
            if (!first) first = type->elem_type;
            if (type->elem_type == *first) continue;
            inspection.fail(node.place,
                            fmt::format("the input `{}` has elements of type {}, expected {} or a "
                                        "`Cast`",
                                        printable(node.inputs[i]),
                                        tensor::onnx_type_name(type->elem_type),
                                        tensor::onnx_type_name(*first)));
        }
    }
}

void check_casts(Inspection& inspection) {
    const View& view = inspection.view();
    for (const onnx::Node& node : inspection.graph().nodes) {
        const onnx::Operator* info = profile_operator(node.op);
        if (!info || info->same_type.size() == 0) continue;
        inspection.examined();
        std::optional<int64_t> first;
        for (const size_t i : same_type_inputs(*info, node)) {
            const auto type = view.type(node.inputs[i]);
            if (!type || type->elem_type == 0) {
                inspection.undecided();
                break;
            }
            if (!first) first = type->elem_type;
            if (type->elem_type == *first) continue;
            inspection.fail(node.place,
                            fmt::format("the input `{}` has elements of type {}, expected {}",
                                        printable(node.inputs[i]),
                                        tensor::onnx_type_name(type->elem_type),
                                        tensor::onnx_type_name(*first)));
        }
    }
}

// Operators whose documents allow axes from the back. CAT-57 reports those of Concat, where it
// checks the range, too.
bool may_count_from_back(std::string_view op) {
    return op == "Flatten" || op == "Unsqueeze" || op == "Slice" || op == "Concat";
}

void check_axes(Inspection& inspection) {
    const View& view = inspection.view();
    for (const onnx::Node& node : inspection.graph().nodes) {
        if (may_count_from_back(node.op)) continue;
        const onnx::Operator* info = profile_operator(node.op);
        const auto counted = counted_axes(node, view);
        const auto look = [&](const std::vector<int64_t>& axes, onnx::PathSpan place) {
            inspection.examined();
            const bool fixable = counted && std::ranges::all_of(axes, [&](int64_t axis) {
                                     return axis >= -*counted;
                                 });
            for (const int64_t axis : axes) {
                if (axis >= 0) continue;
                std::string message =
                    fmt::format("axis {} counts from the back, expected 0 or more", axis);
                inspection.fail_maybe_fixable(
                    fixable,
                    place,
                    std::move(message),
                    fixable ? fmt::format("writes {}", axis + *counted) : "");
            }
        };
        if (const auto axis = int_attribute(node, "axis")) look({*axis}, place_of(node, "axis"));
        if (const auto axes = ints_attribute(node, "axes")) look(*axes, place_of(node, "axes"));
        const auto input = info ? axes_input(*info, node) : std::nullopt;
        if (!input) continue;
        if (const auto axes = view.constant_ints(node.inputs[*input])) look(*axes, node.place);
    }
}

void check_constants(Inspection& inspection) {
    for (const onnx::Node& node : inspection.graph().nodes) {
        inspection.examined();
        if (node.op != "Constant" || !onnx::is_default_domain(node.domain)) continue;
        const bool fixable =
            !node.outputs.empty() && inspection.view().constant_tensor(node.outputs[0]).has_value();
        inspection.fail_maybe_fixable(
            fixable, node.place, "a constant is a node, expected an initialiser", "makes it one");
    }
}

void check_steering(Inspection& inspection) {
    for (const onnx::Node& node : inspection.graph().nodes) {
        const onnx::Operator* info = profile_operator(node.op);
        if (!info || info->steering.size() == 0) continue;
        inspection.examined();
        for (const onnx::Steering& steering : info->steering) {
            const size_t i = steering.input;
            if (!has_input(node, i) || inspection.view().is_constant(node.inputs[i])) continue;
            inspection.fail_maybe_fixable(
                gives_result_shape(node, i) && inspection.view().output_shape(node, 0),
                node.place,
                fmt::format("the input `{}` decides the shape of the result and is computed, "
                            "expected a constant",
                            printable(node.inputs[i])),
                "writes the shape that follows from the shapes of the inputs");
        }
    }
}

}  // namespace

std::vector<Rule> operator_rules() {
    using enum Severity;
    return {
        {"S010",
         "VA 000, OP 001, REQ-OP-000, BOSCH-002",
         Restriction,
         "only operators of the profile",
         "only these have a specification",
         "WG operator list (REQ-OP-000)",
         check_allowed},
        {"S024",
         "OP 001, REQ-OP-000",
         Advisory,
         "operators are in the list of selected ones, not only drafts",
         "drafts may change before they are selected",
         "WG operator list (REQ-OP-000)",
         check_draft},
        {"GR4",
         "S011, S012, OP 016, REQ-OP-070, BOSCH-001, conv restriction 5, CONV-2, CONV-4, graph R1",
         Restriction,
         "no attribute with a default and no optional input is left out",
         "there is one way only to say each parameter",
         "general restrictions of the drafts; conv (000), restrictions; graph, R1",
         check_defaults,
         "",
         "2025, 2026-08"},
        {"GR3",
         "AI-008",
         Restriction,
         "no implicit type conversion, also where ONNX allows operands of several types",
         "each conversion is a Cast",
         "general restrictions of the drafts",
         check_conversions,
         "",
         k2026_08},
        {"S014",
         "AI-008, CAT-55",
         Violation,
         "inputs that share a type variable have one element type",
         "no implicit cast",
         "ONNX operator documentation; WG needs; concat (001)",
         check_casts},
        {"S015",
         "",
         Restriction,
         "axes are counted from the front (Concat: CAT-57; Flatten, Unsqueeze and Slice: any)",
         "there is one way only to name an axis, unless the document allows both (X5)",
         "Softmax, R1; ArgMax, R4; concat (001), R1",
         check_axes,
         "",
         "2025, 2026-08"},
        {"S016",
         "",
         Advisory,
         "constants are initialisers, not nodes",
         "there is one way only to give a constant",
         "rule catalogue",
         check_constants},
        {"S017",
         "OP 023, OP 024, VA 001",
         Restriction,
         "inputs that decide shapes are constants",
         "shapes are static; memory and time do not depend on data",
         "WG requirements",
         check_steering},
    };
}

}  // namespace lemma::sonnx
