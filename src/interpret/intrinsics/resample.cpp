// SPDX-License-Identifier: Apache-2.0
// Cubic resize, axis by axis. The weights of a sample are those of cubic convolution with the given
// coefficient. If the axis shrinks and `antialias` is set, the kernel is widened by the scale and
// its weights are normalised. Samples beyond the border repeat the border.
#include <algorithm>
#include <cmath>

#include "interpret/intrinsic.h"

namespace lemma::interpret {

namespace {

double cubic_weight(double distance, double a) {
    const double t = std::fabs(distance);
    if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
    if (t < 2) return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
    return 0;
}

struct Axis {
    int64_t from = 1, to = 1;  // extents
    std::string transform;
    double coefficient = -0.75;
    bool antialias = false;

    double scale() const {
        if (transform != "ALIGNED") return static_cast<double>(from) / static_cast<double>(to);
        return to <= 1 ? 0.0 : static_cast<double>(from - 1) / static_cast<double>(to - 1);
    }
};

struct Taps {
    int64_t first = 0;
    std::vector<double> weights;
};

Taps taps_of(const Axis& axis, int64_t index) {
    const double scale = axis.scale();
    const double offset = axis.transform == "SYMMETRIC" ? 0.5 * scale - 0.5 : 0.0;
    const double center = static_cast<double>(index) * scale + offset;
    const double width = axis.antialias ? std::max(1.0, scale) : 1.0;
    Taps taps;
    taps.first = static_cast<int64_t>(std::floor(center - 2 * width)) + 1;
    double sum = 0;
    for (int64_t i = taps.first; static_cast<double>(i) < center + 2 * width; ++i) {
        taps.weights.push_back(
            cubic_weight((static_cast<double>(i) - center) / width, axis.coefficient));
        sum += taps.weights.back();
    }
    for (double& weight : taps.weights) weight /= sum;
    return taps;
}

Result<Array> resize_axis(const Array& input, size_t at, const Axis& axis) {
    tensor::Shape shape = input.shape;
    shape[at] = axis.to;
    LEMMA_TRY(Array output, Array::zeros(input.dtype, shape));
    if (input.size == 0 || output.size == 0) return output;
    int64_t outer = 1;
    int64_t inner = 1;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (i < at) outer *= shape[i];
        if (i > at) inner *= shape[i];
    }
    for (int64_t index = 0; index < axis.to; ++index) {
        const Taps taps = taps_of(axis, index);
        for (size_t k = 0; k < taps.weights.size(); ++k) {
            const int64_t source =
                std::clamp<int64_t>(taps.first + static_cast<int64_t>(k), 0, axis.from - 1);
            for (int64_t o = 0; o < outer; ++o) {
                const double* const from =
                    &input.reals[static_cast<size_t>((o * axis.from + source) * inner)];
                double* const to =
                    &output.reals[static_cast<size_t>((o * axis.to + index) * inner)];
                for (int64_t i = 0; i < inner; ++i) to[i] += taps.weights[k] * from[i];
            }
        }
    }
    return output;
}

}  // namespace

Result<void> cubic_resize(IntrinsicCall& call) {
    Array current = call.input(0);
    const auto axes = call.integers("axes");
    const auto size = call.integers("size");
    if (current.size == 0) {
        LEMMA_TRY(call.outputs[0].array, Array::zeros(current.dtype, call.outputs[0].shape));
        return {};
    }
    for (size_t i = 0; i < axes.size(); ++i) {
        const auto rank = static_cast<int64_t>(current.shape.size());
        const auto at = static_cast<size_t>(axes[i] < 0 ? axes[i] + rank : axes[i]);
        const Axis axis{.from = current.shape[at],
                        .to = size[i],
                        .transform = call.text("coordinate_transform"),
                        .coefficient = call.real("coeff_a"),
                        .antialias = call.boolean("antialias")};
        LEMMA_TRY(current, resize_axis(current, at, axis));
    }
    call.outputs[0].array = std::move(current);
    return {};
}

}  // namespace lemma::interpret
