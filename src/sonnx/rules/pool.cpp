// SPDX-License-Identifier: Apache-2.0
// Windows of other operators: pooling and transposed convolution (notes 3.4).
#include <fmt/format.h>

#include <algorithm>

#include "diag/utf8.h"
#include "sonnx/inspection.h"
#include "sonnx/window.h"

namespace lemma::sonnx {

namespace {

constexpr size_t kSpatial = 2;

void check_auto_pad(Inspection& inspection) {
    for (const std::string_view op : {"MaxPool", "AveragePool", "ConvTranspose", "ConvInteger"}) {
        inspection.each_node(op, [&](const onnx::Node& node) {
            inspection.examined();
            const auto mode = text_attribute(node, "auto_pad");
            if (!mode || *mode == "NOTSET") return;
            std::string message =
                fmt::format("`auto_pad` is `{}`, expected `NOTSET`", diag::printable(*mode));
            // The padding of a transposed convolution depends on the requested output shape.
            op == "ConvTranspose"
                ? inspection.fail(place_of(node, "auto_pad"), std::move(message))
                : inspection.fail_fixable(place_of(node, "auto_pad"), std::move(message));
        });
    }
}

void each_pool(Inspection& inspection,
               const std::function<void(const onnx::Node&, const std::vector<WindowAxis>&)>& look) {
    inspection.each_node("MaxPool", [&](const onnx::Node& node) {
        inspection.examined();
        const auto axes = window_axes(node, inspection.view());
        if (!axes) return inspection.undecided();
        look(node, *axes);
    });
}

void check_kernel_fits(Inspection& inspection) {
    each_pool(inspection, [&](const onnx::Node& node, const std::vector<WindowAxis>& axes) {
        for (size_t i = 0; i < axes.size(); ++i) {
            const auto kernel = effective_kernel(axes[i]);
            const auto padded = padded_input(axes[i]);
            if (!kernel || !padded || axes[i].stride < 1) {
                inspection.fail(
                    node.place,
                    fmt::format("spatial axis {} has a kernel, stride or dilation below 1, or a "
                                "negative pad",
                                i));
            } else if (*kernel > *padded) {
                inspection.fail(node.place,
                                fmt::format("the kernel reaches over {} on spatial axis {}, "
                                            "expected at most {} (the padded input)",
                                            *kernel,
                                            i,
                                            *padded));
            }
        }
    });
}

void check_windows(Inspection& inspection) {
    each_pool(inspection, [&](const onnx::Node& node, const std::vector<WindowAxis>& axes) {
        const bool ceil = int_attribute(node, "ceil_mode").value_or(0) != 0;
        for (size_t i = 0; i < axes.size(); ++i) {
            const auto outputs = output_extent(axes[i], ceil);
            if (!outputs || every_window_hits(axes[i], *outputs)) continue;
            inspection.fail(node.place,
                            fmt::format("a window along spatial axis {} holds padding only", i));
        }
    });
}

void check_spatial_axes(Inspection& inspection) {
    inspection.each_node("MaxPool", [&](const onnx::Node& node) {
        inspection.examined();
        const auto shape = inspection.view().input_shape(node, 0);
        if (!shape) return inspection.undecided();
        if (shape->size() != kSpatial + 2) {
            inspection.fail(
                node.place,
                fmt::format("`X` has rank {}, expected 4 (2 spatial axes)", shape->size()));
        }
        for (const std::string_view name : {"strides", "dilations", "kernel_shape", "pads"}) {
            const auto values = ints_attribute(node, name);
            const size_t length = name == "pads" ? 2 * kSpatial : kSpatial;
            if (!values || values->size() == length) continue;
            inspection.fail(
                place_of(node, name),
                fmt::format("`{}` has {} items, expected {}", name, values->size(), length));
        }
    });
}

void check_zero(Inspection& inspection,
                std::string_view name,
                const std::function<bool(const onnx::Node&)>& is_fixable,
                const std::string& fix) {
    inspection.each_node("MaxPool", [&](const onnx::Node& node) {
        inspection.examined();
        const auto value = int_attribute(node, name);
        if (!value || *value == 0) return;  // GR4 reports missing ones
        inspection.fail_maybe_fixable(is_fixable(node),
                                      place_of(node, name),
                                      fmt::format("`{}` is {}, expected 0", name, *value),
                                      fix);
    });
}
// Rounding up adds windows that reach beyond the input; padding at the end can add the same ones.
void check_ceil_mode(Inspection& inspection) {
    const auto can_pad = [&](const onnx::Node& node) {
        const auto axes = window_axes(node, inspection.view());
        return axes && std::ranges::all_of(*axes, [](const WindowAxis& axis) {
                   return end_pad_without_ceil(axis).has_value();
               });
    };
    check_zero(inspection, "ceil_mode", can_pad, "pads the end instead");
}
// It counts for `Indices` only.
void check_storage_order(Inspection& inspection) {
    const auto has_no_indices = [](const onnx::Node& node) { return node.outputs.size() < 2; };
    check_zero(inspection, "storage_order", has_no_indices, "writes 0, which changes nothing");
}

void check_pads(Inspection& inspection) {
    each_pool(inspection, [&](const onnx::Node& node, const std::vector<WindowAxis>& axes) {
        for (size_t i = 0; i < axes.size(); ++i) {
            const auto kernel = effective_kernel(axes[i]);
            if (!kernel) continue;  // reported by POOL-2
            const int64_t most = std::min(*kernel - 1, axes[i].kernel);
            for (const int64_t pad : {axes[i].pad_begin, axes[i].pad_end}) {
                if (pad <= most) continue;
                inspection.fail(place_of(node, "pads"),
                                fmt::format("a pad on spatial axis {} is {}, expected at most {} "
                                            "(the kernel has {}, {} with dilation)",
                                            i,
                                            pad,
                                            most,
                                            axes[i].kernel,
                                            *kernel));
            }
        }
    });
}

void check_indices(Inspection& inspection) {
    inspection.each_node("MaxPool", [&](const onnx::Node& node) {
        inspection.examined();
        if (node.outputs.size() < 2 || node.outputs[1].empty()) return;
        inspection.fail(node.place,
                        fmt::format("the output `Indices` is given as `{}`, expected `Y` only",
                                    diag::printable(node.outputs[1])));
    });
}

void check_output(Inspection& inspection) {
    each_pool(inspection, [&](const onnx::Node& node, const std::vector<WindowAxis>& axes) {
        const auto x = inspection.view().input_shape(node, 0);
        const auto y = inspection.view().output_shape(node, 0);
        if (!x || !y) return inspection.undecided();
        const bool ceil = int_attribute(node, "ceil_mode").value_or(0) != 0;
        Extents expected(x->begin(), x->begin() + 2);
        for (const WindowAxis& axis : axes) {
            const auto extent = output_extent(axis, ceil);
            if (!extent) return;  // reported by POOL-2
            expected.push_back(*extent);
        }
        if (*y == expected) return;
        inspection.fail(
            node.place,
            fmt::format("`Y` has the shape {}, expected {}", shape_text(*y), shape_text(expected)));
    });
}

}  // namespace

std::vector<Rule> pool_rules() {
    using enum Severity;
    return {
        {"POOL-1",
         "conv auto_pad.C1, CONV-23",
         Restriction,
         "`auto_pad` of pooling and transposed convolutions is NOTSET",
         "padding is explicit",
         "conv (000), auto_pad C1, for the other operators with windows",
         check_auto_pad},
        {"POOL-2",
         "",
         Violation,
         "the dilated kernel of MaxPool fits into the padded input",
         "else the formula gives a size of zero or less",
         "MaxPool, constraints of the attributes",
         check_kernel_fits,
         "MaxPool",
         "2026-08, 2026-10"},
        {"POOL-3",
         "",
         Restriction,
         "every window of MaxPool has an element of the input",
         "the maximum of nothing is not specified; `pad <= kernel` is not enough",
         "MaxPool, X_0020",
         check_windows,
         "MaxPool",
         "2026-08, 2026-10"},
        {"POOL-4",
         "",
         Restriction,
         "MaxPool has two spatial axes: rank 4, two strides and dilations, four pads",
         "2026-10 allows more, and 2026-08 specifies two; the strict profile has two",
         "MaxPool, R1 of 2026-08 (transient)",
         check_spatial_axes,
         "MaxPool",
         k2026_08},
        {"POOL-5",
         "",
         Restriction,
         "`ceil_mode` of MaxPool is 0",
         "the size of the result is rounded down",
         "MaxPool, R4 of 2026-08, R3 of 2026-10 (transient)",
         check_ceil_mode,
         "MaxPool",
         "2026-08, 2026-10"},
        {"POOL-6",
         "",
         Restriction,
         "`storage_order` of MaxPool is 0",
         "indices count row by row",
         "MaxPool, R5 of 2026-08, R2 of 2026-10 (transient)",
         check_storage_order,
         "MaxPool",
         "2026-08, 2026-10"},
        {"POOL-7",
         "",
         Restriction,
         "no pad of MaxPool is larger than the kernel, or as large as the dilated kernel",
         "both texts bound the padding, in two ways",
         "MaxPool, pads C2 of 2026-08, R4 of 2026-10",
         check_pads,
         "MaxPool",
         "2026-08, 2026-10"},
        {"POOL-8",
         "",
         Restriction,
         "MaxPool has no output `Indices`",
         "it is not supported in 2026-10, which wins over 2026-08",
         "MaxPool, R5 of 2026-10 (transient)",
         check_indices,
         "MaxPool",
         k2026_10},
        {"POOL-9",
         "",
         Violation,
         "Y of MaxPool has the batch and the channels of X, and an element for each window",
         "the formula ranges over them",
         "MaxPool, constraints of Y",
         check_output,
         "MaxPool",
         "2026-08, 2026-10"},
    };
}

}  // namespace lemma::sonnx
