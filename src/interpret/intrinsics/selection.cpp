// SPDX-License-Identifier: Apache-2.0
// Selects elements by value: top_k, nonzero, nonmax_suppress (spec 4.1.6, 4.7).
#include <algorithm>
#include <numeric>

#include "interpret/intrinsic.h"

namespace lemma::interpret {

namespace {

// One row of an array along an axis: element i is at base + i * stride.
struct Rows {
    int64_t outer = 1;   // product of the axes before
    int64_t length = 1;  // the axis itself
    int64_t inner = 1;   // product of the axes after
};
Rows rows_along(const tensor::Shape& shape, size_t axis) {
    Rows rows;
    for (size_t i = 0; i < shape.size(); ++i) {
        (i < axis ? rows.outer : i == axis ? rows.length : rows.inner) *= shape[i];
    }
    return rows;
}

size_t at(int64_t index) { return static_cast<size_t>(index); }

}  // namespace

// Equal values keep the order of their indices. NaN is larger than all numbers.
Result<void> top_k(IntrinsicCall& call) {
    const Array& input = call.input(0);
    for (auto& output : call.outputs) {
        LEMMA_TRY(output.array, Array::zeros(output.dtype, output.shape));
    }
    if (input.size == 0) return {};  // for any number of rows
    const int64_t rank = static_cast<int64_t>(input.shape.size());
    const int64_t axis = call.integer("axis");
    const Rows rows = rows_along(input.shape, at(axis < 0 ? axis + rank : axis));
    const int64_t count = std::clamp<int64_t>(call.integer("k"), 0, rows.length);
    const bool largest = call.boolean("largest");
    const bool sorted = call.boolean("sorted");
    std::vector<int64_t> order(at(rows.length));
    for (int64_t row = 0; row < rows.outer * rows.inner; ++row) {
        const int64_t block = row / rows.inner;
        const int64_t lane = row % rows.inner;
        const auto value = [&](int64_t i) {
            return input.reals[at((block * rows.length + i) * rows.inner + lane)];
        };
        const auto before = [&](int64_t i, int64_t j) {
            const double a = value(largest ? i : j);
            const double b = value(largest ? j : i);
            if (a > b || (a != a && b == b)) return true;
            if (b > a || (b != b && a == a)) return false;
            return i < j;
        };
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + count, order.end(), before);
        if (!sorted) std::sort(order.begin(), order.begin() + count);
        for (int64_t i = 0; i < count; ++i) {
            const size_t target = at((block * count + i) * rows.inner + lane);
            call.outputs[0].array.reals[target] = value(order[at(i)]);
            call.outputs[1].array.integers[target] = order[at(i)];
        }
    }
    return {};
}

// A column of indices per nonzero element, in row-major order.
Result<void> nonzero(IntrinsicCall& call) {
    const Array& input = call.input(0);
    std::vector<int64_t> found;
    for (int64_t i = 0; i < input.size; ++i) {
        const bool set = input.reals.empty() ? input.integers[at(i)] != 0 : input.reals[at(i)] != 0;
        if (set) found.push_back(i);
    }
    const auto count = static_cast<int64_t>(found.size());
    const auto rank = static_cast<int64_t>(input.shape.size());
    LEMMA_TRY(Array output, Array::zeros(call.outputs[0].dtype, {rank, count}));
    for (int64_t column = 0; column < count; ++column) {
        int64_t rest = found[at(column)];
        for (int64_t axis = rank; axis-- > 0;) {
            output.integers[at(axis * count + column)] = rest % input.shape[at(axis)];
            rest /= input.shape[at(axis)];
        }
    }
    call.outputs[0].array = std::move(output);
    return {};
}

namespace {

struct Box {
    double low[2], high[2];

    double area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

// CORNERS: two opposite corners, in any order; CENTER: the centre, then the extents.
Box make_box(const double* row, bool corners) {
    Box box{};
    for (int axis = 0; axis < 2; ++axis) {
        const double first = corners ? row[axis] : row[axis] - row[axis + 2] / 2;
        const double second = corners ? row[axis + 2] : row[axis] + row[axis + 2] / 2;
        box.low[axis] = std::min(first, second);
        box.high[axis] = std::max(first, second);
    }
    return box;
}

// Intersection over union; boxes without area overlap nothing. Most pairs are disjoint, which is
// tested first.
double overlap(const Box& a, const Box& b) {
    double common = 1;
    for (int axis = 0; axis < 2; ++axis) {
        const double shared =
            std::min(a.high[axis], b.high[axis]) - std::max(a.low[axis], b.low[axis]);
        if (!(shared > 0)) return 0;
        common *= shared;
    }
    const double both = a.area() + b.area() - common;
    return both > 0 ? common / both : 0.0;
}

struct Suppression {
    int64_t most = 0;
    double overlap = 0;
    double score = 0;
    bool has_score = false;
};

// The boxes to keep, best first: a box is dropped if it overlaps a better one too much.
std::vector<int64_t> suppress(const std::vector<Box>& boxes,
                              const double* scores,
                              const Suppression& by) {
    std::vector<int64_t> order;
    for (size_t i = 0; i < boxes.size(); ++i) {
        if (!by.has_score || scores[i] > by.score) order.push_back(static_cast<int64_t>(i));
    }
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
        return scores[at(i)] > scores[at(j)];
    });
    std::vector<int64_t> kept;
    std::vector<Box> kept_boxes;  // contiguous for speed
    for (const int64_t candidate : order) {
        if (static_cast<int64_t>(kept.size()) >= by.most) break;
        const Box box = boxes[at(candidate)];
        const bool hidden = std::ranges::any_of(
            kept_boxes, [&](const Box& better) { return overlap(box, better) > by.overlap; });
        if (hidden) continue;
        kept.push_back(candidate);
        kept_boxes.push_back(box);
    }
    return kept;
}

}  // namespace

// Rows (batch, class, box), ordered by batch, class and descending score.
Result<void> nonmax_suppress(IntrinsicCall& call) {
    const Array& boxes = call.input(0);
    const Array& scores = call.input(1);
    const bool corners = call.text("box_format") == "CORNERS";
    Suppression by{.most = call.integer("max_outputs_per_class"),
                   .overlap = call.real("iou_threshold"),
                   .has_score = call.has("score_threshold")};
    if (by.has_score) by.score = call.real("score_threshold");
    const int64_t batch = scores.size > 0 ? scores.shape[0] : 0;
    const int64_t classes = scores.shape[1];
    const int64_t count = scores.shape[2];
    std::vector<int64_t> rows;
    for (int64_t b = 0; b < batch; ++b) {
        std::vector<Box> row_boxes;
        for (int64_t i = 0; i < count; ++i) {
            row_boxes.push_back(make_box(&boxes.reals[at((b * count + i) * 4)], corners));
        }
        for (int64_t c = 0; c < classes && count > 0; ++c) {
            const double* const row_scores = &scores.reals[at((b * classes + c) * count)];
            for (const int64_t kept : suppress(row_boxes, row_scores, by)) {
                rows.insert(rows.end(), {b, c, kept});
            }
        }
    }
    LEMMA_TRY(Array output,
              Array::zeros(call.outputs[0].dtype, {static_cast<int64_t>(rows.size() / 3), 3}));
    output.integers = std::move(rows);
    call.outputs[0].array = std::move(output);
    return {};
}

}  // namespace lemma::interpret
