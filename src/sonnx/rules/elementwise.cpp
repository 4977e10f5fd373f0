// SPDX-License-Identifier: Apache-2.0
// Elementwise operators with constraints on values: Div, Pow, LeakyRelu and Clip. Constraints on
// values that only a run knows belong to the error certificate.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "diag/utf8.h"
#include "sonnx/inspection.h"

namespace lemma::sonnx {

namespace {

using diag::printable;

bool is_integer_input(const onnx::Node& node, size_t index, const View& view) {
    if (!has_input(node, index)) return false;
    const auto type = view.type(node.inputs[index]);
    const auto dtype = type ? tensor::dtype_of_onnx(type->elem_type) : std::nullopt;
    return dtype && tensor::is_integer(*dtype);
}

void check_divisor(Inspection& inspection) {
    std::set<std::string> seen;  // a constant is read once, however many nodes use it
    inspection.each_node("Div", [&](const onnx::Node& node) {
        inspection.examined();
        if (!is_integer_input(node, 1, inspection.view())) return;
        if (!seen.insert(node.inputs[1]).second) return;
        const auto divisor = inspection.view().constant_ints(node.inputs[1], kMaxConstant);
        if (!divisor) return;  // known at run time only
        for (size_t i = 0; i < divisor->size(); ++i) {
            if ((*divisor)[i] != 0) continue;
            return inspection.fail(node.place,
                                   fmt::format("element {} of the divisor `{}` is 0, expected "
                                               "integers other than 0",
                                               i,
                                               printable(node.inputs[1])));
        }
    });
}

void check_exponent(Inspection& inspection) {
    std::set<std::string> seen;
    inspection.each_node("Pow", [&](const onnx::Node& node) {
        inspection.examined();
        if (!is_integer_input(node, 1, inspection.view())) return;
        if (!seen.insert(node.inputs[1]).second) return;
        const std::string name = printable(node.inputs[1]);
        const auto exponent = inspection.view().constant_ints(node.inputs[1], kMaxConstant);
        if (!exponent) {
            inspection.fail(
                node.place,
                fmt::format("the integer exponent `{}` is computed, expected a constant", name));
            return;
        }
        for (const int64_t value : *exponent) {
            if (value >= 0) continue;
            return inspection.fail(
                node.place,
                fmt::format("the integer exponent `{}` is {}, expected 0 or more", name, value));
        }
    });
}

void check_slope(Inspection& inspection) {
    inspection.each_node("LeakyRelu", [&](const onnx::Node& node) {
        inspection.examined();
        const auto alpha = float_attribute(node, "alpha");
        if (!alpha) return;  // reported by GR4
        if (!std::isfinite(*alpha)) {
            inspection.fail(place_of(node, "alpha"),
                            fmt::format("`alpha` is {}, expected a finite number", *alpha));
            return;
        }
        const auto type =
            has_input(node, 0) ? inspection.view().type(node.inputs[0]) : std::nullopt;
        const auto dtype = type ? tensor::dtype_of_onnx(type->elem_type) : std::nullopt;
        if (!dtype) return inspection.undecided();
        if (*dtype != tensor::DType::F16) return;
        auto half = tensor::Tensor::zeros(*dtype, {1});
        if (!half) return;
        half->set_real(0, *alpha);
        if (half->real(0) == static_cast<double>(*alpha)) return;
        inspection.fail(
            place_of(node, "alpha"),
            fmt::format(
                "`alpha` {} is not a number of FLOAT16, expected {}", *alpha, half->real(0)));
    });
}

void check_bounds_are_scalars(Inspection& inspection) {
    inspection.each_node("Clip", [&](const onnx::Node& node) {
        inspection.examined();
        for (const size_t i : {size_t{1}, size_t{2}}) {
            if (!has_input(node, i)) continue;  // reported by GR4
            const auto shape = inspection.view().input_shape(node, i);
            if (!shape) {
                inspection.undecided();
            } else if (!shape->empty()) {
                const bool fixable = element_count(*shape) == 1 &&
                                     inspection.view().constant_tensor(node.inputs[i], 1);
                inspection.fail_maybe_fixable(
                    fixable,
                    node.place,
                    fmt::format("the bound `{}` has the shape {}, expected a scalar",
                                printable(node.inputs[i]),
                                shape_text(*shape)),
                    "writes it as a scalar");
            }
        }
    });
}

std::optional<double> number(const onnx::Node& node, size_t index, const View& view) {
    if (!has_input(node, index)) return std::nullopt;
    const auto tensor = view.constant_tensor(node.inputs[index], 1);
    if (!tensor || tensor->size() != 1) return std::nullopt;
    return tensor::is_real(tensor->dtype()) ? tensor->real(0)
                                            : static_cast<double>(tensor->integer(0));
}

void check_bounds(Inspection& inspection) {
    inspection.each_node("Clip", [&](const onnx::Node& node) {
        inspection.examined();
        if (!has_input(node, 1) || !has_input(node, 2)) return;  // reported by GR4
        const auto low = number(node, 1, inspection.view());
        const auto high = number(node, 2, inspection.view());
        if (!low || !high) {
            inspection.fail(node.place, "the bounds of `Clip` are computed, expected constants");
        } else if (!(*low <= *high)) {
            inspection.fail(
                node.place,
                fmt::format("the bounds are {} and {}, expected the lower one first", *low, *high));
        }
    });
}

}  // namespace

std::vector<Rule> elementwise_rules() {
    using enum Severity;
    return {
        {"DIV-1",
         "",
         Restriction,
         "no element of a constant integer divisor is 0",
         "integer division by zero has no result",
         "Div, constraints of B",
         check_divisor,
         "Div",
         "2026-08, 2026-10"},
        {"POW-1",
         "",
         Restriction,
         "an integer exponent is a constant of 0 or more",
         "integers have no other powers",
         "Pow (int), C3",
         check_exponent,
         "Pow",
         k2026_08},
        {"LEAKY-1",
         "",
         Restriction,
         "`alpha` of LeakyRelu is finite and a number of the element type",
         "the attribute is a float; converting it must not change it",
         "LeakyRelu, Function; GR3",
         check_slope,
         "LeakyRelu",
         kOwn},
        {"CLIP-1",
         "",
         Restriction,
         "the bounds of Clip are scalars",
         "there is one way only to write a bound",
         "Clip, C1 of L and M",
         check_bounds_are_scalars,
         "Clip",
         k2026_08},
        {"CLIP-2",
         "",
         Advisory,
         "the bounds of Clip are constants, the lower one first",
         "with exchanged bounds every result is the upper one",
         "Clip, Function",
         check_bounds,
         "Clip",
         kOwn},
    };
}

}  // namespace lemma::sonnx
