// SPDX-License-Identifier: Apache-2.0
#include "sonnx/window.h"

#include <algorithm>

#include "base/checked.h"

namespace lemma::sonnx {

std::optional<int64_t> effective_kernel(const WindowAxis& axis) {
    if (axis.kernel < 1 || axis.dilation < 1) return std::nullopt;
    const auto reach = checked_mul(axis.dilation, axis.kernel - 1);
    return reach ? checked_add(*reach, 1) : std::nullopt;
}

std::optional<int64_t> padded_input(const WindowAxis& axis) {
    if (axis.input < 0 || axis.pad_begin < 0 || axis.pad_end < 0) return std::nullopt;
    const auto padding = checked_add(axis.pad_begin, axis.pad_end);
    return padding ? checked_add(axis.input, *padding) : std::nullopt;
}

std::optional<int64_t> output_extent(const WindowAxis& axis, bool ceil) {
    const auto kernel = effective_kernel(axis);
    const auto padded = padded_input(axis);
    if (!kernel || !padded || axis.stride < 1 || *kernel > *padded) return std::nullopt;
    const int64_t room = *padded - *kernel;
    int64_t steps = room / axis.stride;
    if (ceil && room % axis.stride != 0) {
        const auto start = checked_mul(steps + 1, axis.stride);
        const auto end = checked_add(axis.input, axis.pad_begin);
        if (start && end && *start < *end) ++steps;
    }
    return checked_add(steps, 1);
}

// A dilated window may span a short input without a tap in it.
bool every_window_hits(const WindowAxis& axis, int64_t outputs) {
    const auto last = checked_mul(outputs - 1, axis.stride);
    if (!last || *last - axis.pad_begin >= axis.input) return false;
    // Upper bound of windows that begin in the padding; real models have few.
    constexpr int64_t kMaxWindows = int64_t{1} << 16;
    const int64_t early = std::min(outputs, *ceil_div(axis.pad_begin, axis.stride));
    if (early > kMaxWindows) return false;
    for (int64_t o = 0; o < early; ++o) {
        const int64_t first = o * axis.stride - axis.pad_begin;
        const int64_t skip = *ceil_div(-first, axis.dilation);  // taps before the input
        if (skip >= axis.kernel || first + skip * axis.dilation >= axis.input) return false;
        // The first window misses the most; if no tap can jump over the input, it decides.
        if (axis.dilation <= axis.input) break;
    }
    return true;
}

std::optional<int64_t> end_pad_without_ceil(const WindowAxis& axis) {
    const auto outputs = output_extent(axis, true);
    const auto kernel = effective_kernel(axis);
    const auto padded = padded_input(axis);
    if (!outputs || !kernel || !padded) return std::nullopt;
    const auto last = checked_mul(*outputs - 1, axis.stride);
    const auto reach = last ? checked_add(*last, *kernel) : std::nullopt;
    if (!reach) return std::nullopt;
    const auto pad = checked_add(axis.pad_end, std::max<int64_t>(0, *reach - *padded));
    if (!pad || *pad >= *kernel || *pad > axis.kernel) return std::nullopt;
    return pad;
}

bool resolve_auto_pad(const std::string& mode, WindowAxis& axis) {
    const auto kernel = effective_kernel(axis);
    if (!kernel || axis.stride < 1 || axis.input < 0) return false;
    axis.pad_begin = axis.pad_end = 0;
    if (mode == "VALID" || mode == "NOTSET") return true;
    if (mode != "SAME_UPPER" && mode != "SAME_LOWER") return false;
    const int64_t outputs = *ceil_div(axis.input, axis.stride);
    const auto span = checked_mul(outputs - 1, axis.stride);
    const auto reach = span ? checked_add(*span, *kernel) : std::nullopt;
    if (!reach) return false;
    const int64_t total = std::max<int64_t>(0, *reach - axis.input);
    const int64_t smaller = total / 2;
    axis.pad_begin = mode == "SAME_UPPER" ? smaller : total - smaller;
    axis.pad_end = total - axis.pad_begin;
    return true;
}

namespace {

// An attribute of the right length, or the default.
std::optional<std::vector<int64_t>> list_of(const onnx::Node& node,
                                            std::string_view name,
                                            size_t length,
                                            int64_t missing) {
    auto values = ints_attribute(node, name);
    if (!values) return std::vector<int64_t>(length, missing);
    if (values->size() != length) return std::nullopt;
    return values;
}

}  // namespace

std::optional<std::vector<WindowAxis>> window_axes(const onnx::Node& node, const View& view) {
    const auto input = view.input_shape(node, 0);
    if (!input || input->size() < 3) return std::nullopt;
    const size_t spatial = input->size() - 2;
    auto kernel = ints_attribute(node, "kernel_shape");
    const bool has_weights = node.op.starts_with("Conv");
    if (has_weights) {
        const auto weights = view.input_shape(node, 1);
        if (!weights || weights->size() != spatial + 2) return std::nullopt;
        kernel.emplace(weights->begin() + 2, weights->end());
    }
    const auto strides = list_of(node, "strides", spatial, 1);
    const auto dilations = list_of(node, "dilations", spatial, 1);
    const auto pads = list_of(node, "pads", 2 * spatial, 0);
    if (!kernel || kernel->size() != spatial || !strides || !dilations || !pads)
        return std::nullopt;
    const std::string mode = text_attribute(node, "auto_pad").value_or("NOTSET");
    std::vector<WindowAxis> axes;
    for (size_t i = 0; i < spatial; ++i) {
        WindowAxis axis{.input = (*input)[i + 2],
                        .kernel = (*kernel)[i],
                        .stride = (*strides)[i],
                        .dilation = (*dilations)[i],
                        .pad_begin = (*pads)[i],
                        .pad_end = (*pads)[i + spatial]};
        if (mode != "NOTSET" && !resolve_auto_pad(mode, axis)) return std::nullopt;
        axes.push_back(axis);
    }
    return axes;
}

}  // namespace lemma::sonnx
