// SPDX-License-Identifier: Apache-2.0
// Regions of interest (NNEF 1.0.4, 4.6, with its errata; SkriptND 4.5.3): pooling of the cells of
// each region, and resampling of the region before pooling.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "interpret/intrinsic.h"

namespace lemma::interpret {

namespace {

// Calls `visit` with every index below the extents, in row-major order.
template <class Visit>
void for_each_index(const std::vector<int64_t>& extents, const Visit& visit) {
    for (const int64_t extent : extents) {
        if (extent <= 0) return;
    }
    std::vector<int64_t> index(extents.size(), 0);
    while (true) {
        visit(index);
        size_t axis = extents.size();
        while (axis-- > 0) {
            if (++index[axis] < extents[axis]) break;
            index[axis] = 0;
        }
        if (axis == SIZE_MAX) return;
    }
}

// The feature maps with their regions: input (b, c, s..), rois (m, 2d), index (m).
class Regions {
public:
    explicit Regions(const IntrinsicCall& call)
        : input_(call.input(0)),
          rois_(call.input(1)),
          index_(call.input(2)),
          extents_(input_.shape.begin() + 2, input_.shape.end()) {}

    int64_t count() const { return rois_.shape[0]; }
    int64_t channels() const { return input_.shape[1]; }
    size_t axes() const { return extents_.size(); }
    int64_t extent(size_t axis) const { return extents_[axis]; }
    double begin(int64_t region, size_t axis) const { return corner(region, axis); }
    double end(int64_t region, size_t axis) const { return corner(region, axis + axes()); }

    Result<int64_t> batch(int64_t region) const {
        const int64_t batch = index_.integers[static_cast<size_t>(region)];
        if (batch >= 0 && batch < input_.shape[0]) return batch;
        return std::unexpected(
            Error{fmt::format("index {} of region {} is outside of the batch, which has extent {}",
                              batch,
                              region,
                              input_.shape[0])});
    }
    double at(int64_t batch, int64_t channel, const std::vector<int64_t>& index) const {
        int64_t offset = batch * channels() + channel;
        for (size_t axis = 0; axis < axes(); ++axis) {
            offset = offset * extents_[axis] + index[axis];
        }
        return input_.reals[static_cast<size_t>(offset)];
    }

private:
    double corner(int64_t region, size_t column) const {
        return rois_.reals[static_cast<size_t>(region) * 2 * axes() + column];
    }

    const Array& input_;
    const Array& rois_;
    const Array& index_;
    std::vector<int64_t> extents_;
};

enum class Pooling { Max, Average };

class Pool {
public:
    explicit Pool(Pooling pooling) : pooling_(pooling) {}
    void add(double value) {
        sum_ += value;
        most_ = std::max(most_, value);
        ++count_;
    }
    // 0 for an empty cell.
    double value() const {
        if (count_ == 0) return 0;
        return pooling_ == Pooling::Max ? most_ : sum_ / static_cast<double>(count_);
    }

private:
    Pooling pooling_;
    double sum_ = 0;
    double most_ = -std::numeric_limits<double>::infinity();
    int64_t count_ = 0;
};

// A coordinate as a safe integer: a coordinate far outside stays outside.
int64_t rounded(double coordinate) {
    if (!(std::fabs(coordinate) < 1e9)) return coordinate > 0 ? 1'000'000'000 : -1'000'000'000;
    return std::llround(coordinate);
}

// The range of one axis that cell i of a region covers, inside the feature map.
std::pair<int64_t, int64_t> cell(
    double begin, double end, int64_t i, int64_t cells, int64_t extent) {
    const int64_t first = rounded(begin);
    const int64_t length = std::max<int64_t>(rounded(end) - first, 0);
    const int64_t low = first + i * (length / cells);
    const int64_t high = low + (length + cells - 1) / cells;
    return {std::clamp<int64_t>(low, 0, extent), std::clamp<int64_t>(high, 0, extent)};
}

Result<void> roi_pool(IntrinsicCall& call, Pooling pooling) {
    const Regions regions(call);
    const auto cells = call.integers("output_size");
    auto& output = call.outputs[0];
    LEMMA_TRY(output.array, Array::zeros(output.dtype, output.shape));
    if (output.array.size == 0) return {};
    size_t target = 0;
    for (int64_t region = 0; region < regions.count(); ++region) {
        LEMMA_TRY(const int64_t batch, regions.batch(region));
        for (int64_t channel = 0; channel < regions.channels(); ++channel) {
            for_each_index(cells, [&](const std::vector<int64_t>& place) {
                std::vector<int64_t> low;
                std::vector<int64_t> size;
                for (size_t axis = 0; axis < regions.axes(); ++axis) {
                    const auto [from, to] = cell(regions.begin(region, axis),
                                                 regions.end(region, axis),
                                                 place[axis],
                                                 cells[axis],
                                                 regions.extent(axis));
                    low.push_back(from);
                    size.push_back(to - from);
                }
                Pool pool(pooling);
                for_each_index(size, [&](std::vector<int64_t> index) {
                    for (size_t axis = 0; axis < index.size(); ++axis) index[axis] += low[axis];
                    pool.add(regions.at(batch, channel, index));
                });
                output.array.reals[target++] = pool.value();
            });
        }
    }
    return {};
}

// The position of sample i of `count` between the begin and the end of a region.
double sample_at(double begin, double end, int64_t i, int64_t count, const std::string& transform) {
    const double extent = end - begin;
    const auto steps = static_cast<double>(count);
    const auto step = static_cast<double>(i);
    if (transform == "ALIGNED") {
        return count <= 1 ? begin : begin + step * (extent - 1) / (steps - 1);
    }
    const double scale = extent / steps;
    return begin + step * scale + (transform == "SYMMETRIC" ? 0.5 * scale - 0.5 : 0.0);
}

// Multilinear, with repeated borders. A region with NaN has no elements.
double interpolate(const Regions& regions,
                   int64_t batch,
                   int64_t channel,
                   const std::vector<double>& point) {
    double sum = 0;
    for (const double coordinate : point) {
        if (std::isnan(coordinate)) return coordinate;
    }
    for_each_index(std::vector<int64_t>(point.size(), 2), [&](const std::vector<int64_t>& corner) {
        double weight = 1;
        std::vector<int64_t> index;
        for (size_t axis = 0; axis < point.size(); ++axis) {
            const auto last = static_cast<double>(regions.extent(axis) - 1);
            const double inside = std::clamp(point[axis], 0.0, last);
            const double low = std::floor(inside);
            weight *= corner[axis] ? inside - low : 1 - (inside - low);
            const double near = std::min(low + static_cast<double>(corner[axis]), last);
            index.push_back(static_cast<int64_t>(near));
        }
        if (weight != 0) sum += weight * regions.at(batch, channel, index);
    });
    return sum;
}

}  // namespace

Result<void> max_roi_pool(IntrinsicCall& call) { return roi_pool(call, Pooling::Max); }
Result<void> avg_roi_pool(IntrinsicCall& call) { return roi_pool(call, Pooling::Average); }

Result<void> roi_align(IntrinsicCall& call) {
    const Regions regions(call);
    const auto cells = call.integers("output_size");
    const auto rate = call.integers("sampling_rate");
    const std::string transform = call.text("coordinate_transform");
    const Pooling pooling = call.text("mode") == "MAX" ? Pooling::Max : Pooling::Average;
    auto& output = call.outputs[0];
    LEMMA_TRY(output.array, Array::zeros(output.dtype, output.shape));
    if (output.array.size == 0) return {};
    for (size_t axis = 0; axis < regions.axes(); ++axis) {
        if (regions.extent(axis) == 0) return {};
    }
    size_t target = 0;
    for (int64_t region = 0; region < regions.count(); ++region) {
        LEMMA_TRY(const int64_t batch, regions.batch(region));
        for (int64_t channel = 0; channel < regions.channels(); ++channel) {
            for_each_index(cells, [&](const std::vector<int64_t>& place) {
                Pool pool(pooling);
                for_each_index(rate, [&](const std::vector<int64_t>& sample) {
                    std::vector<double> point;
                    for (size_t axis = 0; axis < regions.axes(); ++axis) {
                        point.push_back(sample_at(regions.begin(region, axis),
                                                  regions.end(region, axis),
                                                  place[axis] * rate[axis] + sample[axis],
                                                  cells[axis] * rate[axis],
                                                  transform));
                    }
                    pool.add(interpolate(regions, batch, channel, point));
                });
                output.array.reals[target++] = pool.value();
            });
        }
    }
    return {};
}

}  // namespace lemma::interpret
