// SPDX-License-Identifier: Apache-2.0
// `conv` (document 000) in the reading of notes 1 to 49. Rule numbers are those of the notes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/checked.h"
#include "diag/utf8.h"
#include "sonnx/inspection.h"
#include "sonnx/window.h"

namespace lemma::sonnx {

namespace {

constexpr size_t kSpatial = 2;
constexpr std::string_view kOp = "Conv";

// A Conv with known input and weights, of any rank.
struct Shapes {
    Extents x;
    Extents w;
    int64_t group = 1;
};

void each_conv(Inspection& inspection,
               const std::function<void(const onnx::Node&, const Shapes&)>& look) {
    inspection.each_node(kOp, [&](const onnx::Node& node) {
        inspection.examined();
        const auto x = inspection.view().input_shape(node, 0);
        const auto w = inspection.view().input_shape(node, 1);
        if (!x || !w || x->size() < 3 || w->size() != x->size()) return inspection.undecided();
        look(node, {*x, *w, int_attribute(node, "group").value_or(1)});
    });
}

void check_rank(Inspection& inspection) {
    inspection.each_node(kOp, [&](const onnx::Node& node) {
        inspection.examined();
        for (const size_t i : {size_t{0}, size_t{1}}) {
            const auto shape = inspection.view().input_shape(node, i);
            if (!shape) {
                inspection.undecided();
            } else if (shape->size() != kSpatial + 2) {
                inspection.fail(node.place,
                                fmt::format("`{}` has rank {}, expected 4 (2 spatial axes)",
                                            i == 0 ? "X" : "W",
                                            shape->size()));
            }
        }
        const std::array<std::pair<std::string_view, size_t>, 4> lists = {
            {{"strides", 2}, {"dilations", 2}, {"kernel_shape", 2}, {"pads", 4}}};
        for (const auto& [name, length] : lists) {
            const auto values = ints_attribute(node, name);
            if (!values || values->size() == length) continue;
            inspection.fail(
                place_of(node, name),
                fmt::format("`{}` has {} items, expected {}", name, values->size(), length));
        }
    });
}

void check_channels(Inspection& inspection) {
    each_conv(inspection, [&](const onnx::Node& node, const Shapes& shapes) {
        const auto wanted = checked_mul(shapes.w[1], shapes.group);
        if (shapes.group < 1 || !wanted) {
            inspection.fail(place_of(node, "group"),
                            fmt::format("`group` is {}, expected 1 or more", shapes.group));
        } else if (*wanted != shapes.x[1]) {
            inspection.fail(node.place,
                            fmt::format("`X` has {} channels, expected {} ({} of `W` in each of {} "
                                        "groups)",
                                        shapes.x[1],
                                        *wanted,
                                        shapes.w[1],
                                        shapes.group));
        } else if (shapes.w[0] % shapes.group != 0) {
            inspection.fail(node.place,
                            fmt::format("`W` has {} output channels, expected a multiple of {}",
                                        shapes.w[0],
                                        shapes.group));
        }
    });
}

void each_window(
    Inspection& inspection,
    const std::function<void(const onnx::Node&, const std::vector<WindowAxis>&)>& look) {
    inspection.each_node(kOp, [&](const onnx::Node& node) {
        inspection.examined();
        const auto axes = window_axes(node, inspection.view());
        if (!axes) return inspection.undecided();
        look(node, *axes);
    });
}

void check_size(Inspection& inspection) {
    each_window(inspection, [&](const onnx::Node& node, const std::vector<WindowAxis>& axes) {
        const auto y = inspection.view().output_shape(node, 0);
        if (!y || y->size() != axes.size() + 2) return inspection.undecided();
        for (size_t i = 0; i < axes.size(); ++i) {
            const auto expected = output_extent(axes[i]);
            if (!expected || *expected == (*y)[i + 2]) continue;
            inspection.fail(node.place,
                            fmt::format("spatial axis {} of `Y` has extent {}, expected {}",
                                        i,
                                        (*y)[i + 2],
                                        *expected));
        }
    });
}

void check_kernel_fits(Inspection& inspection) {
    each_window(inspection, [&](const onnx::Node& node, const std::vector<WindowAxis>& axes) {
        for (size_t i = 0; i < axes.size(); ++i) {
            const auto kernel = effective_kernel(axes[i]);
            const auto padded = padded_input(axes[i]);
            if (!kernel || !padded || *kernel <= *padded) continue;
            inspection.fail(node.place,
                            fmt::format("the kernel reaches over {} on spatial axis {}, expected "
                                        "at most {} (the padded input)",
                                        *kernel,
                                        i,
                                        *padded));
        }
    });
}

void check_kernel_shape(Inspection& inspection) {
    each_conv(inspection, [&](const onnx::Node& node, const Shapes& shapes) {
        const auto kernel = ints_attribute(node, "kernel_shape");
        if (!kernel) return;  // reported by GR4
        const Extents expected(shapes.w.begin() + 2, shapes.w.end());
        if (*kernel == expected) return;
        inspection.fail(place_of(node, "kernel_shape"),
                        fmt::format("`kernel_shape` is [{}], expected [{}] as `W` has it",
                                    fmt::join(*kernel, ", "),
                                    fmt::join(expected, ", ")));
    });
}

void check_at_least(Inspection& inspection, std::string_view name, int64_t least) {
    inspection.each_node(kOp, [&](const onnx::Node& node) {
        inspection.examined();
        const auto values = ints_attribute(node, name);
        if (!values) return;
        for (const int64_t value : *values) {
            if (value >= least) continue;
            inspection.fail(
                place_of(node, name),
                fmt::format("`{}` has the item {}, expected {} or more", name, value, least));
        }
    });
}
void check_strides(Inspection& inspection) { check_at_least(inspection, "strides", 1); }
void check_pads(Inspection& inspection) { check_at_least(inspection, "pads", 0); }
void check_dilations(Inspection& inspection) { check_at_least(inspection, "dilations", 1); }

void check_group(Inspection& inspection) {
    each_conv(inspection, [&](const onnx::Node& node, const Shapes& shapes) {
        if (shapes.group == 1 || shapes.group == shapes.x[1]) return;
        inspection.fail(place_of(node, "group"),
                        fmt::format("`group` is {}, expected 1 (standard) or {} (depthwise)",
                                    shapes.group,
                                    shapes.x[1]));
    });
}

void check_multiplier(Inspection& inspection) {
    each_conv(inspection, [&](const onnx::Node& node, const Shapes& shapes) {
        const bool depthwise = shapes.group > 1 && shapes.group == shapes.x[1];
        if (!depthwise || shapes.w[0] == shapes.x[1]) return;
        inspection.fail(node.place,
                        fmt::format("a depthwise convolution has {} output channels, expected {} "
                                    "as many as `X`",
                                    shapes.w[0],
                                    shapes.x[1]));
    });
}

void check_bias(Inspection& inspection) {
    each_conv(inspection, [&](const onnx::Node& node, const Shapes& shapes) {
        if (!has_input(node, 2)) return;
        const auto b = inspection.view().input_shape(node, 2);
        if (!b) return inspection.undecided();
        if (*b == Extents{shapes.w[0]}) return;
        inspection.fail(node.place,
                        fmt::format("`B` has the shape {}, expected {} (the output channels)",
                                    shape_text(*b),
                                    shapes.w[0]));
    });
}

void check_output(Inspection& inspection) {
    each_conv(inspection, [&](const onnx::Node& node, const Shapes& shapes) {
        const auto y = inspection.view().output_shape(node, 0);
        if (!y) return inspection.undecided();
        if (y->size() != shapes.x.size()) {
            inspection.fail(
                node.place,
                fmt::format("`Y` has rank {}, expected {}", y->size(), shapes.x.size()));
            return;
        }
        if ((*y)[0] != shapes.x[0]) {
            inspection.fail(node.place,
                            fmt::format("`Y` has batch {}, expected {}", (*y)[0], shapes.x[0]));
        }
        if ((*y)[1] != shapes.w[0]) {
            inspection.fail(node.place,
                            fmt::format("`Y` has {} channels, expected {}", (*y)[1], shapes.w[0]));
        }
    });
}

void check_auto_pad(Inspection& inspection) {
    inspection.each_node(kOp, [&](const onnx::Node& node) {
        inspection.examined();
        const auto mode = text_attribute(node, "auto_pad");
        if (!mode || *mode == "NOTSET") return;
        inspection.fail_fixable(
            place_of(node, "auto_pad"),
            fmt::format("`auto_pad` is `{}`, expected `NOTSET`", diag::printable(*mode)));
    });
}

void check_real(Inspection& inspection) {
    constexpr std::array<int64_t, 3> kReals = {1, 10, 11};  // float, float16, double
    inspection.each_node(kOp, [&](const onnx::Node& node) {
        inspection.examined();
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            if (!has_input(node, i)) continue;
            const auto type = inspection.view().type(node.inputs[i]);
            if (!type || type->elem_type == 0) return inspection.undecided();
            if (std::ranges::find(kReals, type->elem_type) != kReals.end()) continue;
            inspection.fail(node.place,
                            fmt::format("the input `{}` has elements of type {}, expected FLOAT16, "
                                        "FLOAT or DOUBLE",
                                        diag::printable(node.inputs[i]),
                                        tensor::onnx_type_name(type->elem_type)));
        }
    });
}

// Checks denotations if a tensor has any.
void check_denotation_of(Inspection& inspection,
                         const std::string& name,
                         const std::array<std::string_view, 4>& expected) {
    const onnx::ValueInfo* value = inspection.view().declared(name);
    if (!value || !value->shape || value->shape->size() != expected.size()) return;
    const auto denoted = [](const onnx::Dimension& each) { return !each.denotation.empty(); };
    if (std::ranges::none_of(*value->shape, denoted)) return;
    for (size_t i = 0; i < expected.size(); ++i) {
        const std::string& found = (*value->shape)[i].denotation;
        if (found == expected[i]) continue;
        inspection.fail(value->place,
                        fmt::format("axis {} of `{}` has the denotation `{}`, expected `{}`",
                                    i,
                                    diag::printable(name),
                                    diag::printable(found),
                                    expected[i]));
    }
}
void check_denotation(Inspection& inspection) {
    inspection.each_node(kOp, [&](const onnx::Node& node) {
        inspection.examined();
        if (node.inputs.size() < 2) return;
        check_denotation_of(inspection,
                            node.inputs[0],
                            {"DATA_BATCH", "DATA_CHANNEL", "DATA_FEATURE", "DATA_FEATURE"});
        check_denotation_of(
            inspection,
            node.inputs[1],
            {"FILTER_OUT_CHANNEL", "FILTER_IN_CHANNEL", "FILTER_SPATIAL", "FILTER_SPATIAL"});
    });
}

}  // namespace

std::vector<Rule> conv_rules() {
    using enum Severity;
    return {
        {"CONV-R1",
         "conv restriction 1",
         Restriction,
         "the inputs of Conv are float16, float or double",
         "the operator is specified over the reals",
         "conv (000), restrictions",
         check_real,
         "Conv"},
        {"CONV-21",
         "conv restriction 2, conv X.C1, conv stride.C1, conv pads.C2, conv dilation.C2",
         Restriction,
         "Conv has two spatial axes: rank 4, two strides and dilations, four pads",
         "only two spatial axes are specified",
         "conv (000), X C1; notes 21",
         check_rank,
         "Conv"},
        {"CONV-7",
         "conv X.C2, conv W.C1",
         Violation,
         "the channels of X are those of W times `group`, and `group` divides the output channels",
         "each output channel sums over the channels of its group",
         "conv (000), X C2, W C1; notes 7",
         check_channels,
         "Conv"},
        {"CONV-8",
         "conv X.C3, conv W.C2, conv stride.C2, conv pads.C3, conv dilation.C3, conv Y.C1",
         Violation,
         "the spatial extents of Y are floor((in + pads - (d*(k-1)+1)) / stride) + 1",
         "the output counts how often the kernel can be applied",
         "conv (000), X C3; notes 8, 9, 10",
         check_size,
         "Conv"},
        {"CONV-11",
         "conv X.C3",
         Violation,
         "the dilated kernel fits into the padded input",
         "else floor and truncation differ and the size is zero or less",
         "conv (000), X C3; notes 11, 29",
         check_kernel_fits,
         "Conv"},
        {"CONV-12",
         "conv kernel_shape.C1, conv kernel_shape.C2",
         Violation,
         "`kernel_shape` is that of W, rows first",
         "it repeats what W says",
         "conv (000), kernel_shape C1, C2; notes 12",
         check_kernel_shape,
         "Conv"},
        {"CONV-14",
         "conv stride",
         Violation,
         "every stride is 1 or more",
         "the kernel must move",
         "conv (000), stride; notes 13, 14",
         check_strides,
         "Conv"},
        {"CONV-15",
         "conv pads.C1",
         Violation,
         "no pad is negative",
         "a pad counts elements that are added",
         "conv (000), pads C1; notes 15",
         check_pads,
         "Conv"},
        {"CONV-16",
         "conv dilation.C1",
         Violation,
         "every dilation is 1 or more",
         "taps of the kernel must differ",
         "conv (000), dilation C1; notes 16",
         check_dilations,
         "Conv"},
        {"CONV-17",
         "conv restriction 4, conv group.C1",
         Restriction,
         "`group` is 1 (standard) or the channels of X (depthwise)",
         "other groupings are not specified",
         "conv (000), group C1; notes 17",
         check_group,
         "Conv"},
        {"CONV-18",
         "conv depthwise",
         Restriction,
         "a depthwise convolution has as many output channels as X",
         "a channel multiplier is not specified",
         "conv (000), depthwise; notes 18",
         check_multiplier,
         "Conv"},
        {"CONV-19",
         "conv B.C1",
         Violation,
         "B has one element for each output channel",
         "it is added once to each channel",
         "conv (000), B C1; notes 3, 19",
         check_bias,
         "Conv"},
        {"CONV-20",
         "conv Y.C1, conv Y",
         Violation,
         "Y has the batch of X and the output channels of W",
         "the formula ranges over them",
         "conv (000), Y; notes 6, 20, 27",
         check_output,
         "Conv"},
        {"CONV-23",
         "conv restriction 3, conv auto_pad.C1",
         Restriction,
         "`auto_pad` of Conv is NOTSET",
         "padding is explicit",
         "conv (000), auto_pad C1; notes 23",
         check_auto_pad,
         "Conv"},
        {"CONV-C4",
         "conv X.C4, conv W.C3",
         Violation,
         "where axes have denotations, they are those of data and filters",
         "denotation convention",
         "conv (000), X C4, W C3",
         check_denotation,
         "Conv"},
    };
}

}  // namespace lemma::sonnx
