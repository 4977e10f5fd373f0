// Windows of other operators: pooling and transposed convolution (notes 3.4).
#include <fmt/format.h>

#include "diag/utf8.h"
#include "sonnx/inspection.h"
#include "sonnx/window.h"

namespace lemma::sonnx {

namespace {

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
         "MaxPool R4",
         Violation,
         "the dilated kernel of MaxPool fits into the padded input",
         "else the formula gives a size of zero or less",
         "MaxPool draft 2026-10; notes 3.4",
         check_kernel_fits},
        {"POOL-3",
         "MaxPool R4",
         Restriction,
         "every window of MaxPool has an element of the input",
         "the maximum of nothing is not specified; `pad <= kernel` is not enough",
         "MaxPool draft 2026-10; notes 3.4",
         check_windows},
    };
}

}  // namespace lemma::sonnx
