// Rules about nodes of every operator: which are allowed, and that nothing about them is implicit.
#include "sonnx/operators.h"

#include <fmt/format.h>

#include <algorithm>

#include "diag/utf8.h"
#include "sonnx/defaults.h"
#include "sonnx/inspection.h"

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
            inspection.fail(
                node.place,
                fmt::format("the operator `{}` is not in the profile", printable(node.op)));
        }
    }
}

void check_draft(Inspection& inspection) {
    for (const onnx::Node& node : inspection.graph().nodes) {
        const onnx::Operator* info = profile_operator(node.op);
        if (!info) continue;
        inspection.examined();
        if (info->standing == onnx::Standing::Draft) {
            inspection.fail(node.place,
                            fmt::format("`{}` has a draft, but is not in the list of selected "
                                        "operators",
                                        node.op));
        }
    }
}

void check_defaults(Inspection& inspection) {
    for (const onnx::Node& node : inspection.graph().nodes) {
        inspection.examined();
        for (const MissingAttribute& missing : missing_attributes(node, inspection.view())) {
            std::string message =
                fmt::format("the attribute `{}` of `{}` is left out", missing.name, node.op);
            if (missing.value) {
                inspection.fail_fixable(
                    node.place,
                    fmt::format("{}; ONNX takes `{}`", message, value_text(*missing.value)));
            } else {
                inspection.fail(node.place, std::move(message));
            }
        }
    }
}

// Bias: an input that the specified formula always uses.
void check_bias(Inspection& inspection) {
    for (const onnx::Node& node : inspection.graph().nodes) {
        const bool takes = node.op == "Conv" || node.op == "ConvTranspose" || node.op == "Gemm";
        if (!takes) continue;
        inspection.examined();
        if (!has_input(node, 2)) {
            inspection.fail(node.place,
                            fmt::format("`{}` has no `{}`, which counts as zero then",
                                        node.op,
                                        node.op == "Gemm" ? "C" : "B"));
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

void check_axes(Inspection& inspection) {
    const View& view = inspection.view();
    for (const onnx::Node& node : inspection.graph().nodes) {
        if (node.op == "Concat") continue;  // CAT-57 tells it, for there its range is checked too
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
                fixable ? inspection.fail_fixable(place, std::move(message))
                        : inspection.fail(place, std::move(message));
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
        if (node.op == "Constant")
            inspection.fail(node.place, "a constant is a node, expected an initialiser");
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
            inspection.fail(node.place,
                            fmt::format("the input `{}` decides the shape of the result and is "
                                        "computed, expected a constant",
                                        printable(node.inputs[i])));
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
         "S011, OP 016, REQ-OP-070, BOSCH-001, conv restriction 5, CONV-2",
         Restriction,
         "no attribute with a default is left out",
         "there is one way only to say each parameter",
         "conv (000), restrictions; general restrictions of the drafts",
         check_defaults},
        {"S012",
         "BOSCH-001, CONV-4",
         Advisory,
         "the optional bias is given",
         "the formulas always add it",
         "conv (000), signature; WG needs",
         check_bias},
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
         "axes are counted from the front (Concat: CAT-57)",
         "there is one way only to name an axis",
         "concat (001), R1",
         check_axes},
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
