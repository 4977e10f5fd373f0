// SPDX-License-Identifier: Apache-2.0
#include "emit/intrinsics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace lemma::emit {

namespace {

const ir::Value* find(const ir::Operation& op, std::string_view name) {
    for (const ir::Attribute& attribute : op.attributes) {
        if (attribute.name == name) return &attribute.value;
    }
    return nullptr;
}

template <class T>
std::optional<T> attribute(const ir::Operation& op, std::string_view name) {
    const ir::Value* const value = find(op, name);
    const auto* const scalar = value ? std::get_if<ir::Scalar>(value) : nullptr;
    const T* const found = scalar ? std::get_if<T>(scalar) : nullptr;
    return found ? std::optional<T>(*found) : std::nullopt;
}

std::vector<int64_t> integers(const ir::Operation& op, std::string_view name) {
    std::vector<int64_t> numbers;
    const ir::Value* const value = find(op, name);
    const auto* const pack = value ? std::get_if<ir::Pack>(value) : nullptr;
    if (!pack) return numbers;
    for (const ir::Scalar& item : pack->items) {
        const auto* const number = std::get_if<int64_t>(&item);
        if (!number) return {};
        numbers.push_back(*number);
    }
    return numbers;
}

// The products of the axes before an axis and of those after it, and the axis itself.
struct Rows {
    int64_t outer = 1, length = 1, inner = 1;
};
Rows rows_along(const tensor::Shape& shape, size_t axis) {
    Rows rows;
    for (size_t i = 0; i < shape.size(); ++i) {
        (i < axis ? rows.outer : i == axis ? rows.length : rows.inner) *= shape[i];
    }
    return rows;
}

std::optional<size_t> axis_of(int64_t axis, const tensor::Shape& shape) {
    if (axis < 0) axis += std::ssize(shape);
    if (axis < 0 || axis >= std::ssize(shape)) return std::nullopt;
    return static_cast<size_t>(axis);
}

std::optional<IntrinsicText> top_k(const ir::Operation& op, const tensor::Shape& shape) {
    const auto k = attribute<int64_t>(op, "k");
    const auto axis = axis_of(attribute<int64_t>(op, "axis").value_or(-1000), shape);
    const auto largest = attribute<bool>(op, "largest");
    const auto sorted = attribute<bool>(op, "sorted");
    if (!k || !axis || !largest || !sorted) return std::nullopt;
    const Rows rows = rows_along(shape, *axis);
    return IntrinsicText{{},
                         {fmt::format("sx_top_k(in0, out0, out1, {}, {}, {}, {}, {}, {});",
                                      rows.outer,
                                      rows.length,
                                      rows.inner,
                                      std::clamp<int64_t>(*k, 0, rows.length),
                                      *largest ? 1 : 0,
                                      *sorted ? 1 : 0)},
                         {}};
}

std::optional<IntrinsicText> cubic_resize(const ir::Operation& op, tensor::Shape shape) {
    const auto axes = integers(op, "axes"), size = integers(op, "size");
    const auto transform = attribute<std::string>(op, "coordinate_transform");
    const auto coefficient = attribute<double>(op, "coeff_a");
    const auto antialias = attribute<bool>(op, "antialias");
    if (axes.empty() || axes.size() != size.size() || !transform || !coefficient || !antialias) {
        return std::nullopt;
    }
    IntrinsicText text;
    std::string from = "in0";
    for (size_t i = 0; i < axes.size(); ++i) {
        const auto axis = axis_of(axes[i], shape);
        if (!axis || size[i] <= 0) return std::nullopt;
        const Rows rows = rows_along(shape, *axis);
        shape[*axis] = size[i];
        const bool last = i + 1 == axes.size();
        const std::string to = last ? "out0" : fmt::format("step{}", i);
        if (!last) {
            const int64_t volume = rows.outer * size[i] * rows.inner;
            text.declarations.push_back(
                fmt::format("static double {}[{}];", to, std::max<int64_t>(volume, 1)));
        }
        const auto wide = static_cast<double>(rows.length), narrow = static_cast<double>(size[i]);
        const double scale = *transform != "ALIGNED" ? wide / narrow
                             : size[i] <= 1          ? 0.0
                                                     : (wide - 1) / (narrow - 1);
        const double offset = *transform == "SYMMETRIC" ? 0.5 * scale - 0.5 : 0.0;
        text.statements.push_back(
            fmt::format("sx_cubic_axis({}, {}, {}, {}, {}, {}, {:a}, {:a}, {:a}, {:a});",
                        from,
                        to,
                        rows.outer,
                        rows.length,
                        size[i],
                        rows.inner,
                        scale,
                        offset,
                        *antialias ? std::max(1.0, scale) : 1.0,
                        *coefficient));
        from = to;
    }
    return text;
}

// Regions of interest: input (b, c, s..), rois (m, 2d), index (m).
std::optional<IntrinsicText> regions(const ir::Operation& op,
                                     const std::vector<tensor::Shape>& shapes) {
    constexpr size_t kMostAxes = 8;  // as in the support file
    const auto cells = integers(op, "output_size");
    auto rate = integers(op, "sampling_rate");
    if (shapes.size() < 3 || shapes[0].size() < 3) return std::nullopt;
    const tensor::Shape& input = shapes[0];
    const size_t axes = input.size() - 2;
    const bool align = op.op == "image.roi_align";
    if (!align) rate.assign(axes, 0);
    if (axes > kMostAxes || cells.size() != axes || rate.size() != axes) return std::nullopt;
    bool largest = op.op == "image.max_roi_pool";
    int transform = 0;
    if (align) {
        const auto mode = attribute<std::string>(op, "mode");
        const auto given = attribute<std::string>(op, "coordinate_transform");
        if (!mode || !given) return std::nullopt;
        largest = *mode == "MAX";
        transform = *given == "ALIGNED" ? 1 : *given == "SYMMETRIC" ? 2 : 0;
    }
    IntrinsicText text;
    const std::vector<int64_t> extents(input.begin() + 2, input.end());
    for (const auto& [name, list] :
         {std::pair{"extents", extents}, std::pair{"cells", cells}, std::pair{"rate", rate}}) {
        text.declarations.push_back(fmt::format(
            "static const int64_t {}[{}] = {{ {} }};", name, axes, fmt::join(list, ", ")));
    }
    text.test = fmt::format(
        "sx_regions(in0, in1, in2, out0, {}, {}, {}, {}, extents, cells, rate, {}, {}, {})",
        input[0],
        input[1],
        shapes[1][0],
        axes,
        largest ? 1 : 0,
        align ? 1 : 0,
        transform);
    return text;
}

}  // namespace

std::optional<IntrinsicText> intrinsic_call(const ir::Operation& op,
                                            const std::vector<tensor::Shape>& shapes) {
    if (shapes.empty()) return std::nullopt;
    if (op.op == "algo.top_k") return top_k(op, shapes[0]);
    if (op.op == "image.cubic_resize") return cubic_resize(op, shapes[0]);
    const bool region = op.op == "image.max_roi_pool" || op.op == "image.avg_roi_pool" ||
                        op.op == "image.roi_align";
    return region ? regions(op, shapes) : std::nullopt;
}

const char* const kIntrinsicsHeader = R"(/* Operators without a formula. */
#ifndef SX_INTRINSICS_H
#define SX_INTRINSICS_H

#include <stdint.h>

/* The k largest or smallest elements of each row. Element i of a row is at i * inner. Equal elements
   keep their order, and NaN is larger than all numbers. Unless sorted, the chosen elements keep the
   order of the row. */
void sx_top_k(const double *input, double *values, int64_t *indices, int64_t outer, int64_t length,
              int64_t inner, int64_t k, int32_t largest, int32_t sorted);

/* Resizes one axis by cubic convolution. Sample i lies at i * scale + offset. */
void sx_cubic_axis(const double *input, double *output, int64_t outer, int64_t from, int64_t to,
                   int64_t inner, double scale, double offset, double width, double coefficient);

/* Pools the cells of each region of feature maps (batch, channels, extents), or samples of them.
   A region has its begins and then its ends. Transform: 0 asymmetric, 1 aligned, 2 symmetric.
   Returns 1 if the index of a region is outside of the batch. */
int32_t sx_regions(const double *input, const double *corners, const int64_t *index, double *output,
                   int64_t batch, int64_t channels, int64_t regions, int64_t axes,
                   const int64_t *extents, const int64_t *cells, const int64_t *rate,
                   int32_t largest, int32_t align, int32_t transform);

#endif
)";

const char* const kIntrinsicsSource = R"(#include "intrinsics.h"

#include <math.h>

#define SX_AXES 8

/* Whether element i is chosen before element j. */
static int32_t sx_before(double a, double b, int64_t i, int64_t j, int32_t largest)
{
    const double first = (largest != 0) ? a : b;
    const double second = (largest != 0) ? b : a;
    int32_t result = (i < j) ? 1 : 0;
    if ((first > second) || ((first != first) && (second == second))) {
        result = 1;
    } else if ((second > first) || ((second != second) && (first == first))) {
        result = 0;
    } else {
        /* equal: the order of the row */
    }
    return result;
}

void sx_top_k(const double *input, double *values, int64_t *indices, int64_t outer, int64_t length,
              int64_t inner, int64_t k, int32_t largest, int32_t sorted)
{
    for (int64_t block = 0; block < outer; block++) {
        for (int64_t lane = 0; lane < inner; lane++) {
            const double *row = &input[(block * length * inner) + lane];
            const int64_t to = (block * k * inner) + lane;
            int64_t last = -1;
            for (int64_t n = 0; n < k; n++) {
                /* The next one: the first of those behind the last. */
                int64_t best = -1;
                for (int64_t i = 0; i < length; i++) {
                    const int32_t behind =
                        (last < 0) ? 1
                                   : ((i != last) && (sx_before(row[last * inner], row[i * inner],
                                                                last, i, largest) != 0));
                    if ((behind != 0) && ((best < 0) || (sx_before(row[i * inner], row[best * inner],
                                                                   i, best, largest) != 0))) {
                        best = i;
                    }
                }
                last = best;
                indices[to + (n * inner)] = best;
            }
            if (sorted == 0) {
                for (int64_t n = 1; n < k; n++) {
                    const int64_t moved = indices[to + (n * inner)];
                    int64_t at = n;
                    while ((at > 0) && (indices[to + ((at - 1) * inner)] > moved)) {
                        indices[to + (at * inner)] = indices[to + ((at - 1) * inner)];
                        at--;
                    }
                    indices[to + (at * inner)] = moved;
                }
            }
            for (int64_t n = 0; n < k; n++) {
                values[to + (n * inner)] = row[indices[to + (n * inner)] * inner];
            }
        }
    }
}

static double sx_cubic_weight(double distance, double a)
{
    const double t = fabs(distance);
    double weight = 0.0;
    if (t < 1.0) {
        weight = ((((((a + 2.0) * t) - (a + 3.0)) * t) * t) + 1.0);
    } else if (t < 2.0) {
        weight = ((((((a * t) - (5.0 * a)) * t) + (8.0 * a)) * t) - (4.0 * a));
    } else {
        /* far away */
    }
    return weight;
}

void sx_cubic_axis(const double *input, double *output, int64_t outer, int64_t from, int64_t to,
                   int64_t inner, double scale, double offset, double width, double coefficient)
{
    for (int64_t i = 0; i < (outer * to * inner); i++) {
        output[i] = 0.0;
    }
    for (int64_t index = 0; index < to; index++) {
        const double center = ((double)index * scale) + offset;
        const int64_t first = (int64_t)floor(center - (2.0 * width)) + 1;
        double sum = 0.0;
        for (int64_t i = first; (double)i < (center + (2.0 * width)); i++) {
            sum += sx_cubic_weight(((double)i - center) / width, coefficient);
        }
        for (int64_t i = first; (double)i < (center + (2.0 * width)); i++) {
            const double weight = sx_cubic_weight(((double)i - center) / width, coefficient) / sum;
            const int64_t source = (i < 0) ? 0 : ((i > (from - 1)) ? (from - 1) : i);
            for (int64_t o = 0; o < outer; o++) {
                for (int64_t k = 0; k < inner; k++) {
                    output[(((o * to) + index) * inner) + k] +=
                        weight * input[(((o * from) + source) * inner) + k];
                }
            }
        }
    }
}

/* The next index below the extents in row-major order; 0 behind the last. */
static int32_t sx_next(int64_t *index, const int64_t *extents, int64_t axes)
{
    int32_t more = 0;
    for (int64_t axis = axes - 1; (axis >= 0) && (more == 0); axis--) {
        index[axis]++;
        if (index[axis] < extents[axis]) {
            more = 1;
        } else {
            index[axis] = 0;
        }
    }
    return more;
}

static int64_t sx_rounded(double coordinate)
{
    int64_t result = (coordinate > 0.0) ? 1000000000 : -1000000000;
    if (fabs(coordinate) < 1e9) {
        result = (int64_t)round(coordinate);
    }
    return result;
}

static int64_t sx_clamped(int64_t value, int64_t most)
{
    return (value < 0) ? 0 : ((value > most) ? most : value);
}

static double sx_clamped_real(double value, double most)
{
    return (value < 0.0) ? 0.0 : ((most < value) ? most : value);
}

struct sx_pool {
    double sum;
    double most;
    int64_t count;
};

static void sx_pool_add(struct sx_pool *pool, double value)
{
    pool->sum += value;
    pool->most = (pool->most < value) ? value : pool->most;
    pool->count++;
}

static double sx_pool_value(const struct sx_pool *pool, int32_t largest)
{
    double value = 0.0;
    if (pool->count > 0) {
        value = (largest != 0) ? pool->most : (pool->sum / (double)pool->count);
    }
    return value;
}

static double sx_map_element(const double *map, const int64_t *index, const int64_t *extents,
                             int64_t axes)
{
    int64_t offset = 0;
    for (int64_t axis = 0; axis < axes; axis++) {
        offset = (offset * extents[axis]) + index[axis];
    }
    return map[offset];
}

/* Multilinear, with repeated borders. */
static double sx_interpolate(const double *map, const double *point, const int64_t *extents,
                             int64_t axes)
{
    static const int64_t twice[SX_AXES] = { 2, 2, 2, 2, 2, 2, 2, 2 };
    int64_t corner[SX_AXES] = { 0 };
    int64_t index[SX_AXES] = { 0 };
    double sum = 0.0;
    for (int64_t axis = 0; axis < axes; axis++) {
        if (point[axis] != point[axis]) {
            return point[axis];
        }
    }
    do {
        double weight = 1.0;
        for (int64_t axis = 0; axis < axes; axis++) {
            const double last = (double)(extents[axis] - 1);
            const double inside = sx_clamped_real(point[axis], last);
            const double low = floor(inside);
            const double near = low + (double)corner[axis];
            weight *= (corner[axis] != 0) ? (inside - low) : (1.0 - (inside - low));
            index[axis] = (int64_t)((near < last) ? near : last);
        }
        if (weight != 0.0) {
            sum += weight * sx_map_element(map, index, extents, axes);
        }
    } while (sx_next(corner, twice, axes) != 0);
    return sum;
}

static double sx_sample(double begin, double end, int64_t i, int64_t count, int32_t transform)
{
    const double extent = end - begin;
    const double scale = extent / (double)count;
    double at = begin;
    if (transform == 1) {
        at = (count <= 1) ? begin
                          : (begin + (((double)i * (extent - 1.0)) / ((double)count - 1.0)));
    } else {
        at = (begin + ((double)i * scale)) + ((transform == 2) ? ((0.5 * scale) - 0.5) : 0.0);
    }
    return at;
}

/* The elements of a cell. */
static void sx_pool_cell(struct sx_pool *pool, const double *map, const double *corners,
                         const int64_t *place, const int64_t *extents, const int64_t *cells,
                         int64_t axes)
{
    int64_t low[SX_AXES] = { 0 };
    int64_t size[SX_AXES] = { 0 };
    int64_t index[SX_AXES] = { 0 };
    int64_t at[SX_AXES] = { 0 };
    for (int64_t axis = 0; axis < axes; axis++) {
        const int64_t first = sx_rounded(corners[axis]);
        const int64_t last = sx_rounded(corners[axes + axis]);
        const int64_t length = (last > first) ? (last - first) : 0;
        const int64_t begin = first + (place[axis] * (length / cells[axis]));
        const int64_t end = begin + (((length + cells[axis]) - 1) / cells[axis]);
        low[axis] = sx_clamped(begin, extents[axis]);
        size[axis] = sx_clamped(end, extents[axis]) - low[axis];
        if (size[axis] <= 0) {
            return;
        }
    }
    do {
        for (int64_t axis = 0; axis < axes; axis++) {
            at[axis] = low[axis] + index[axis];
        }
        sx_pool_add(pool, sx_map_element(map, at, extents, axes));
    } while (sx_next(index, size, axes) != 0);
}

/* The samples of a cell. */
static void sx_sample_cell(struct sx_pool *pool, const double *map, const double *corners,
                           const int64_t *place, const int64_t *extents, const int64_t *cells,
                           const int64_t *rate, int64_t axes, int32_t transform)
{
    int64_t sample[SX_AXES] = { 0 };
    double point[SX_AXES] = { 0.0 };
    for (int64_t axis = 0; axis < axes; axis++) {
        if ((rate[axis] <= 0) || (extents[axis] <= 0)) {
            return;
        }
    }
    do {
        for (int64_t axis = 0; axis < axes; axis++) {
            point[axis] = sx_sample(corners[axis], corners[axes + axis],
                                    (place[axis] * rate[axis]) + sample[axis],
                                    cells[axis] * rate[axis], transform);
        }
        sx_pool_add(pool, sx_interpolate(map, point, extents, axes));
    } while (sx_next(sample, rate, axes) != 0);
}

int32_t sx_regions(const double *input, const double *corners, const int64_t *index, double *output,
                   int64_t batch, int64_t channels, int64_t regions, int64_t axes,
                   const int64_t *extents, const int64_t *cells, const int64_t *rate,
                   int32_t largest, int32_t align, int32_t transform)
{
    int64_t size = 1;
    int64_t target = 0;
    for (int64_t axis = 0; axis < axes; axis++) {
        size *= extents[axis];
        if (cells[axis] <= 0) {
            return 0;
        }
    }
    for (int64_t region = 0; region < regions; region++) {
        const double *corner = &corners[region * 2 * axes];
        if ((index[region] < 0) || (index[region] >= batch)) {
            return 1;
        }
        for (int64_t channel = 0; channel < channels; channel++) {
            const double *map = &input[((index[region] * channels) + channel) * size];
            int64_t place[SX_AXES] = { 0 };
            do {
                struct sx_pool pool = { 0.0, -INFINITY, 0 };
                if (align != 0) {
                    sx_sample_cell(&pool, map, corner, place, extents, cells, rate, axes, transform);
                } else {
                    sx_pool_cell(&pool, map, corner, place, extents, cells, axes);
                }
                output[target] = sx_pool_value(&pool, largest);
                target++;
            } while (sx_next(place, cells, axes) != 0);
        }
    }
    return 0;
}
)";

}  // namespace lemma::emit
