// SPDX-License-Identifier: Apache-2.0
// sonnx/window.h — the sliding window of convolution and pooling along one spatial axis, with the
// arithmetic of the notes: effective kernels, explicit padding, and sizes of at least one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonnx/view.h"

namespace lemma::sonnx {

struct WindowAxis {
    int64_t input = 0;
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t pad_begin = 0;
    int64_t pad_end = 0;
};

// d*(k-1)+1; empty on overflow or values below one.
std::optional<int64_t> effective_kernel(const WindowAxis& axis);
// Input plus padding; empty on overflow or values below zero.
std::optional<int64_t> padded_input(const WindowAxis& axis);
// floor((padded - effective) / stride) + 1; with `ceil` rounded up, without windows that begin
// after the input. Empty if the kernel does not fit or a value is out of range.
std::optional<int64_t> output_extent(const WindowAxis& axis, bool ceil = false);
// Whether every window has an element of the input; `outputs` is the result of output_extent.
bool every_window_hits(const WindowAxis& axis, int64_t outputs);

// The padding at the end with which rounding down gives the windows of `ceil`; empty if it would
// reach the size of the kernel.
std::optional<int64_t> end_pad_without_ceil(const WindowAxis& axis);

// Explicit padding for SAME_UPPER, SAME_LOWER and VALID, for one axis.
bool resolve_auto_pad(const std::string& mode, WindowAxis& axis);

// The axes of a Conv, ConvTranspose or pooling node, with defaults for missing attributes. Empty if
// shapes are unknown or lists have the wrong length.
std::optional<std::vector<WindowAxis>> window_axes(const onnx::Node& node, const View& view);

}  // namespace lemma::sonnx
