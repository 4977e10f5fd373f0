// SPDX-License-Identifier: Apache-2.0
// loop/schedule/winograd.h — Winograd's minimal filtering F(outputs, 3): neighbouring sums over a
// window of three taps as products of transformed inputs and transformed weights.
#pragma once

#include <cstdint>
#include <vector>

#include "loop/ir/node.h"

namespace lemma::loop {

constexpr int64_t kTaps = 3;

using Matrix = std::vector<std::vector<double>>;
// For each output i < outputs: sum(x[i + tap] * w[tap]) = sum(back[i][p] * X[p] * W[p]), with
// X = input x and W = weights w.
struct Filtering {
    int64_t outputs;
    Matrix input;    // [size, size]
    Matrix weights;  // [size, kTaps]
    Matrix back;     // [outputs, size]

    int64_t size() const { return outputs + kTaps - 1; }  // of a tile: products for `outputs` sums
};
// F(2, 3) or F(4, 3).
const Filtering& filtering(int64_t outputs);

// The products of a matrix with values. Rows, or for `transform_back` columns, that differ only in
// signs share their sums.
std::vector<ExprId> transform(Builder& build, const Matrix& by, const std::vector<ExprId>& values);
std::vector<ExprId> transform_back(Builder& build,
                                   const Matrix& by,
                                   const std::vector<ExprId>& values);
// The same along each of `axes` axes of a tile in row-major order.
template <class Along>
std::vector<ExprId> along_axes(
    std::vector<ExprId> values, size_t axes, int64_t from, int64_t to, const Along& along) {
    // The last axis becomes the first; after all axes the order is the old one.
    for (size_t axis = 0; axis < axes; ++axis) {
        const size_t length = static_cast<size_t>(from);
        const size_t lines = values.size() / length;
        std::vector<ExprId> next(lines * static_cast<size_t>(to));
        for (size_t line = 0; line < lines; ++line) {
            const auto first = values.begin() + static_cast<ptrdiff_t>(line * length);
            const std::vector<ExprId> made =
                along(std::vector<ExprId>(first, first + static_cast<ptrdiff_t>(length)));
            for (size_t i = 0; i < made.size(); ++i) next[i * lines + line] = made[i];
        }
        values = std::move(next);
    }
    return values;
}

}  // namespace lemma::loop
