// SPDX-License-Identifier: Apache-2.0
// LSTM: constant parameters, one direction, one sequence, and the usual activations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "diag/utf8.h"
#include "sonnx/inspection.h"

namespace lemma::sonnx {

namespace {

constexpr std::string_view kOp = "LSTM";
constexpr std::array<std::string_view, 8> kInputs = {
    "X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P"};

void check_constants(Inspection& inspection) {
    inspection.each_node(kOp, [&](const onnx::Node& node) {
        inspection.examined();
        for (size_t i = 1; i < kInputs.size(); ++i) {
            if (!has_input(node, i) || inspection.view().is_constant(node.inputs[i])) continue;
            inspection.fail(node.place,
                            fmt::format("`{}` is `{}`, which is computed or an input, expected a "
                                        "constant",
                                        kInputs[i],
                                        diag::printable(node.inputs[i])));
        }
    });
}

void check_form(Inspection& inspection) {
    inspection.each_node(kOp, [&](const onnx::Node& node) {
        inspection.examined();
        if (const auto direction = text_attribute(node, "direction");
            direction && *direction != "forward") {
            inspection.fail(place_of(node, "direction"),
                            fmt::format("`direction` is `{}`, expected `forward`",
                                        diag::printable(*direction)));
        }
        for (const std::string_view name : {"layout", "input_forget"}) {
            const auto value = int_attribute(node, name);
            if (!value || *value == 0) continue;
            inspection.fail(place_of(node, name),
                            fmt::format("`{}` is {}, expected 0", name, *value));
        }
        if (onnx::find_attribute(node, "clip"))
            inspection.fail(place_of(node, "clip"), "`clip` is given, expected no limit");
        const auto x = inspection.view().input_shape(node, 0);
        if (!x || x->size() != 3) return inspection.undecided();
        if ((*x)[1] != 1)
            inspection.fail(node.place, fmt::format("the batch is {}, expected 1", (*x)[1]));
    });
}

void check_activations(Inspection& inspection) {
    inspection.each_node(kOp, [&](const onnx::Node& node) {
        inspection.examined();
        const onnx::Attribute* given = onnx::find_attribute(node, "activations");
        if (!given) {
            inspection.fail_fixable(node.place,
                                    "the attribute `activations` is left out; ONNX takes Sigmoid, "
                                    "Tanh, Tanh",
                                    "writes these");
            return;
        }
        const auto& names = given->strings;
        const bool known = names.size() == 3 && (names[0] == "Sigmoid" || names[0] == "Relu") &&
                           names[1] == "Tanh" && names[2] == "Tanh";
        if (known) return;
        inspection.fail(given->place,
                        fmt::format("`activations` are {}; expected Sigmoid or Relu, Tanh, Tanh",
                                    diag::printable(fmt::format("{}", fmt::join(names, ", ")))));
    });
}

void check_shapes(Inspection& inspection) {
    inspection.each_node(kOp, [&](const onnx::Node& node) {
        inspection.examined();
        const View& view = inspection.view();
        const auto x = view.input_shape(node, 0);
        const auto r = view.input_shape(node, 2);
        if (!x || !r || x->size() != 3 || r->size() != 3) return inspection.undecided();
        const bool batch_first = int_attribute(node, "layout").value_or(0) != 0;
        const int64_t batch = (*x)[batch_first ? 0 : 1];
        const int64_t directions = (*r)[0];
        const int64_t hidden = (*r)[2];
        constexpr int64_t kMostHidden = int64_t{1} << 31;
        if (hidden < 1 || hidden > kMostHidden) return inspection.undecided();
        const auto state =
            batch_first ? Extents{batch, directions, hidden} : Extents{directions, batch, hidden};
        const std::array<Extents, 8> expected = {*x,
                                                 {directions, 4 * hidden, (*x)[2]},
                                                 {directions, 4 * hidden, hidden},
                                                 {directions, 8 * hidden},
                                                 {batch},
                                                 state,
                                                 state,
                                                 {directions, 3 * hidden}};
        for (size_t i = 1; i < expected.size(); ++i) {
            if (!has_input(node, i)) continue;
            const auto shape = view.input_shape(node, i);
            if (!shape) {
                inspection.undecided();
            } else if (*shape != expected[i]) {
                inspection.fail(node.place,
                                fmt::format("`{}` has the shape {}, expected {}",
                                            kInputs[i],
                                            shape_text(*shape),
                                            shape_text(expected[i])));
            }
        }
    });
}

}  // namespace

std::vector<Rule> lstm_rules() {
    using enum Severity;
    return {
        {"LSTM-1",
         "",
         Restriction,
         "all inputs of LSTM but X are constants",
         "parameters and the first state belong to the model",
         "LSTM, restrictions",
         check_constants,
         kOp,
         k2026_08},
        {"LSTM-2",
         "",
         Restriction,
         "LSTM runs forward over one sequence: `layout` and `input_forget` are 0, no `clip`",
         "other forms are open in the text",
         "LSTM, restrictions",
         check_form,
         kOp,
         k2026_08},
        {"LSTM-3",
         "GR4",
         Restriction,
         "`activations` of LSTM are given: Sigmoid or Relu, Tanh, Tanh",
         "only these are specified",
         "LSTM, restrictions",
         check_activations,
         kOp,
         k2026_08},
        {"LSTM-4",
         "",
         Violation,
         "the shapes of the inputs of LSTM agree",
         "each gate is a row of W, R and B",
         "LSTM, shapes",
         check_shapes,
         kOp,
         k2026_08},
    };
}

}  // namespace lemma::sonnx
