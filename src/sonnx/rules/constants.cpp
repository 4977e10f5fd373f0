// SPDX-License-Identifier: Apache-2.0
// Constant, Shape and Range: results that are known before a run.
#include <fmt/format.h>

#include "diag/utf8.h"
#include "sonnx/inspection.h"

namespace lemma::sonnx {

namespace {

void check_constant(Inspection& inspection) {
    inspection.each_node("Constant", [&](const onnx::Node& node) {
        inspection.examined();
        for (const onnx::Attribute& attribute : node.attributes) {
            if (attribute.name == "value") continue;
            const bool fixable = !node.outputs.empty() &&
                                 inspection.view().constant_tensor(node.outputs[0]).has_value();
            inspection.fail_maybe_fixable(fixable,
                                          attribute.place,
                                          fmt::format("the constant is in `{}`, expected `value`",
                                                      diag::printable(attribute.name)),
                                          "makes it an initialiser");
        }
    });
}

void check_shape(Inspection& inspection) {
    inspection.each_node("Shape", [&](const onnx::Node& node) {
        inspection.examined();
        if (onnx::find_attribute(node, "end")) return;
        inspection.fail_maybe_fixable(
            inspection.view().input_shape(node, 0).has_value(),
            node.place,
            "the attribute `end` of `Shape` is left out; ONNX takes the rank",
            "makes the shape an initialiser");
    });
}

void check_range(Inspection& inspection) {
    inspection.each_node("Range", [&](const onnx::Node& node) {
        inspection.examined();
        if (!has_input(node, 2)) return;
        const auto delta = inspection.view().constant_tensor(node.inputs[2], 1);
        if (!delta || delta->size() != 1) return;  // computed ones are reported by S017
        const bool is_zero =
            tensor::is_real(delta->dtype()) ? delta->real(0) == 0 : delta->integer(0) == 0;
        if (is_zero) inspection.fail(node.place, "the step `delta` is 0, expected another number");
    });
}

}  // namespace

std::vector<Rule> constant_rules() {
    using enum Severity;
    return {
        {"CONST-1",
         "",
         Restriction,
         "a Constant has its value in `value`",
         "there is one way only to give a constant",
         "Constant, R1",
         check_constant,
         "Constant",
         k2026_08},
        {"SHAPE-1",
         "",
         Restriction,
         "`end` of Shape is given",
         "it has a default that depends on the input (`start`: GR4)",
         "Shape, attributes; GR4",
         check_shape,
         "Shape",
         k2026_08},
        {"RANGE-1",
         "",
         Violation,
         "the step of Range is not 0",
         "the number of elements is a quotient by it",
         "Range, C1 of D",
         check_range,
         "Range",
         k2026_08},
    };
}

}  // namespace lemma::sonnx
