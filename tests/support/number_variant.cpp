// SPDX-License-Identifier: Apache-2.0
#include "support/number_variant.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "interpret/random.h"

namespace lemma::testing {

namespace {

using interpret::Array;
using tensor::Shape;

constexpr int64_t kMostElements = 20000;

int64_t element_count(const Shape& shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) count = std::min(count * extent, kMostElements + 1);
    return count;
}

// The axes that grow, by position or by extent.
struct Choice {
    Growth growth{};
    int64_t number = 0;  // the position or the extent
    bool from_back = false;

    bool is_meant(const Shape& shape, size_t axis) const {
        const size_t position = from_back ? shape.size() - 1 - axis : axis;
        switch (growth) {
            case Growth::None:
                return false;
            case Growth::All:
                return true;
            case Growth::Axis:
                return static_cast<int64_t>(position) == number;
            case Growth::Extent:
                return shape[axis] == number;
        }
        return false;
    }
};

std::optional<Choice> choose(const NumberStep& step, Growth growth, uint64_t seed) {
    std::set<int64_t> extents;
    size_t most_axes = 0;
    for (const NumberTensor& input : step.inputs) {
        extents.insert(input.values.shape.begin(), input.values.shape.end());
        most_axes = std::max(most_axes, input.values.shape.size());
    }
    if (most_axes == 0) return std::nullopt;
    const uint64_t drawn = interpret::random_bits(seed, 1);
    Choice choice{growth};
    if (growth == Growth::Axis) {
        choice.number = static_cast<int64_t>(drawn % most_axes);
        choice.from_back = (drawn >> 32 & 1) != 0;
    } else if (growth == Growth::Extent) {
        choice.number = *std::next(extents.begin(), static_cast<int64_t>(drawn % extents.size()));
    }
    return choice;
}

}  // namespace

Array repeated(const Array& array, const Shape& shape) {
    Array result = *Array::zeros(array.dtype, shape);
    Shape index(shape.size(), 0);
    for (int64_t i = 0; i < result.size; ++i) {
        int64_t from = 0, rest = i;
        for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) {
            index[axis] = rest % shape[axis] % array.shape[axis];
        }
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            from = from * array.shape[axis] + index[axis];
        }
        const auto to = static_cast<size_t>(i), at = static_cast<size_t>(from);
        if (!array.reals.empty()) result.reals[to] = array.reals[at];
        if (!array.integers.empty()) result.integers[to] = array.integers[at];
        if (!array.strings.empty()) result.strings[to] = array.strings[at];
    }
    return result;
}

std::optional<NumberCase> grown(const NumberCase& test,
                                Growth growth,
                                int64_t factor,
                                uint64_t seed) {
    const auto choice = choose(test.steps.front(), growth, seed);
    if (!choice) return std::nullopt;
    NumberCase result = test;
    int64_t elements = 0;
    bool changed = false;
    for (NumberTensor& input : result.steps.front().inputs) {
        Shape shape = input.values.shape;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            if (choice->is_meant(input.values.shape, axis)) shape[axis] *= factor;
        }
        changed |= shape != input.values.shape;
        elements += element_count(shape);
        if (elements > kMostElements) return std::nullopt;
        input.values = repeated(input.values, shape);
    }
    if (!changed) return std::nullopt;
    return result;
}

std::optional<NumberCase> with_weights(const NumberCase& test) {
    NumberCase result = test;
    const std::vector<NumberTensor>& inputs = test.steps.front().inputs;
    for (size_t i = 1; i < inputs.size(); ++i) {
        const bool open = test.declared.contains(inputs[i].name);
        if (inputs[i].type == "real" && !open) result.weights.insert(inputs[i].name);
    }
    if (result.weights.empty()) return std::nullopt;
    return result;
}

Array random_like(const Array& array, uint64_t seed) {
    Array result = array;
    if (array.dtype == tensor::DType::Bool) {
        for (size_t i = 0; i < result.integers.size(); ++i) {
            result.integers[i] = static_cast<int64_t>(interpret::random_bits(seed, i) >> 63);
        }
    }
    double least = INFINITY, most = -INFINITY;
    for (const double value : array.reals) {
        if (!std::isfinite(value)) continue;
        least = std::min(least, value);
        most = std::max(most, value);
    }
    if (!(least <= most)) return result;
    if (least == most) most = least + 1;
    // Steps by a power of two, which are exact.
    constexpr int kSteps = 64;
    const double step = std::exp2(std::floor(std::log2((most - least) / kSteps)));
    for (size_t i = 0; i < result.reals.size(); ++i) {
        const double steps =
            std::floor(interpret::random_unit(seed, i) * ((most - least) / step + 1));
        result.reals[i] = std::min(least + steps * step, most);
    }
    result.round();
    return result;
}

}  // namespace lemma::testing
