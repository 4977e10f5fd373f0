// SPDX-License-Identifier: Apache-2.0
// `concat` (document 001) in the reading of notes 50 to 61.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "diag/utf8.h"
#include "sonnx/inspection.h"

namespace lemma::sonnx {

namespace {

struct Parts {
    std::vector<Extents> shapes;
    int64_t axis = 0;  // from the front
};

// Empty if something is unknown, or if another rule reports the problem.
std::optional<Parts> parts_of(const onnx::Node& node, const View& view) {
    const auto axis = int_attribute(node, "axis");
    Parts parts;
    for (const std::string& input : node.inputs) {
        auto shape = view.shape(input);
        if (!shape) return std::nullopt;
        parts.shapes.push_back(std::move(*shape));
    }
    if (parts.shapes.empty() || !axis) return std::nullopt;
    const auto rank = static_cast<int64_t>(parts.shapes[0].size());
    parts.axis = *axis < 0 ? *axis + rank : *axis;
    if (parts.axis < 0 || parts.axis >= rank) return std::nullopt;
    return parts;
}

void each_concat(Inspection& inspection,
                 const std::function<void(const onnx::Node&, const Parts&)>& look) {
    inspection.each_node("Concat", [&](const onnx::Node& node) {
        inspection.examined();
        const auto parts = parts_of(node, inspection.view());
        if (!parts) return inspection.undecided();
        look(node, *parts);
    });
}

void check_count(Inspection& inspection) {
    const int64_t most = inspection.view().subject().max_concat_inputs;
    inspection.each_node("Concat", [&](const onnx::Node& node) {
        inspection.examined();
        const auto count = static_cast<int64_t>(node.inputs.size());
        if (count > 0 && count <= most) return;
        inspection.fail(node.place, fmt::format("it has {} inputs, expected 1 to {}", count, most));
    });
}

void check_axis(Inspection& inspection) {
    inspection.each_node("Concat", [&](const onnx::Node& node) {
        inspection.examined();
        const auto axis = int_attribute(node, "axis");
        if (!axis) return inspection.fail(node.place, "the attribute `axis` is missing");
        const auto shape = inspection.view().input_shape(node, 0);
        if (!shape) return inspection.undecided();
        const auto rank = static_cast<int64_t>(shape->size());
        if (*axis >= 0 && *axis < rank) return;
        const std::string message =
            fmt::format("the axis is {}, expected 0 to {}", *axis, rank - 1);
        *axis < 0 && *axis >= -rank ? inspection.fail_fixable(place_of(node, "axis"), message)
                                    : inspection.fail(place_of(node, "axis"), message);
    });
}

void check_rank(Inspection& inspection) {
    inspection.each_node("Concat", [&](const onnx::Node& node) {
        inspection.examined();
        std::optional<size_t> rank;
        for (const std::string& input : node.inputs) {
            const auto shape = inspection.view().shape(input);
            if (!shape) return inspection.undecided();
            const std::string name = diag::printable(input);
            if (shape->empty()) {
                inspection.fail(
                    node.place,
                    fmt::format("the input `{}` is a scalar, expected rank 1 or more", name));
            } else if (rank && shape->size() != *rank) {
                inspection.fail(
                    node.place,
                    fmt::format(
                        "the input `{}` has rank {}, expected {}", name, shape->size(), *rank));
            }
            if (!rank) rank = shape->size();
        }
    });
}

void check_extents(Inspection& inspection) {
    each_concat(inspection, [&](const onnx::Node& node, const Parts& parts) {
        const Extents& first = parts.shapes[0];
        for (size_t k = 1; k < parts.shapes.size(); ++k) {
            const Extents& shape = parts.shapes[k];
            for (size_t j = 0; j < std::min(first.size(), shape.size()); ++j) {
                if (static_cast<int64_t>(j) == parts.axis || shape[j] == first[j]) continue;
                inspection.fail(node.place,
                                fmt::format("axis {} of the input `{}` has extent {}, expected {}",
                                            j,
                                            diag::printable(node.inputs[k]),
                                            shape[j],
                                            first[j]));
            }
        }
    });
}

void check_output(Inspection& inspection) {
    each_concat(inspection, [&](const onnx::Node& node, const Parts& parts) {
        Extents expected = parts.shapes[0];
        std::optional<int64_t> sum = 0;
        for (const Extents& shape : parts.shapes) {
            if (shape.size() != expected.size()) return;  // reported by the rule about ranks
            sum = sum ? checked_add(*sum, shape[static_cast<size_t>(parts.axis)]) : std::nullopt;
        }
        const auto actual = inspection.view().output_shape(node, 0);
        if (!actual || !sum) return inspection.undecided();
        expected[static_cast<size_t>(parts.axis)] = *sum;
        if (*actual == expected) return;
        inspection.fail(node.place,
                        fmt::format("the output has the shape {}, expected {}",
                                    shape_text(*actual),
                                    shape_text(expected)));
    });
}

}  // namespace

std::vector<Rule> concat_rules() {
    using enum Severity;
    return {
        {"CAT-59",
         "concat C1 of inputs",
         Restriction,
         "Concat has at least one input, and no more than the limit",
         "a bound is needed; the document has 2^31-1, and projects may set a lower one",
         "concat (001), inputs C1; notes 59",
         check_count,
         "Concat"},
        {"CAT-57",
         "S015, concat R1, concat axis C1",
         Restriction,
         "the axis of Concat is 0 to r-1",
         "there is one way only to name an axis",
         "concat (001), R1 and axis C1; notes 57",
         check_axis,
         "Concat"},
        {"CAT-60",
         "concat T7",
         Violation,
         "the inputs of Concat have one rank, 1 or more",
         "a scalar has no axis to join along",
         "concat (001), T7; notes 60",
         check_rank,
         "Concat"},
        {"CAT-50",
         "concat C2 of inputs, concat T8",
         Violation,
         "the inputs of Concat agree on all axes but the one joined",
         "else the result has holes",
         "concat (001), inputs C2, T8; notes 50, 51",
         check_extents,
         "Concat"},
        {"CAT-52",
         "concat Y.C1, concat T9",
         Violation,
         "the output of Concat has the sum of the extents along the axis, and those of the first "
         "input elsewhere",
         "the sum counts all inputs, the first one as well",
         "concat (001), Y C1, T9; notes 52, 53",
         check_output,
         "Concat"},
    };
}

}  // namespace lemma::sonnx
