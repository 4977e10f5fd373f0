// SPDX-License-Identifier: Apache-2.0
#include "view/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace lemma::view {

namespace {

constexpr size_t kBins = 64;
constexpr int64_t kMostSide = 128;  // rows and columns of a slice

// A tensor of either kind, as numbers.
struct Numbers {
    tensor::DType dtype{};
    const tensor::Shape& shape;
    int64_t size = 0;
    std::function<double(int64_t)> at;
};

struct Moments {
    double low = 0, high = 0, mean = 0, square = 0;
    int64_t finite = 0, zeros = 0, nan = 0, inf = 0;

    void add(double value) {
        if (std::isnan(value)) {
            ++nan;
        } else if (std::isinf(value)) {
            ++inf;
        } else {
            low = finite == 0 ? value : std::min(low, value);
            high = finite == 0 ? value : std::max(high, value);
            if (value == 0) ++zeros;
            const double step = value - mean;
            mean += step / static_cast<double>(++finite);
            square += step * (value - mean);
        }
    }
};

Json histogram(const Numbers& numbers, const Moments& moments) {
    std::vector<int64_t> counts(kBins);
    const double width = moments.high - moments.low;
    for (int64_t i = 0; i < numbers.size; ++i) {
        const double value = numbers.at(i);
        if (!std::isfinite(value)) continue;
        const double share =
            width > 0 && std::isfinite(width) ? (value - moments.low) / width : 0.5;
        const auto bin = static_cast<size_t>(share * static_cast<double>(kBins));
        ++counts[std::min(bin, kBins - 1)];
    }
    return {{"low", moments.low}, {"high", moments.high}, {"counts", std::move(counts)}};
}

Json number_json(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    return value;
}

// Row and column axes of the slice, and its first element.
struct Slice {
    int64_t rows = 1, columns = 1;
    int64_t row_stride = 0, column_stride = 0;
    int64_t begin = 0;
    std::string text;
};
Slice slice_of(const tensor::Shape& shape, const SliceWish& wish) {
    Slice slice;
    if (shape.empty()) return slice;
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * shape[i];
    const size_t column = std::min(wish.axis.value_or(shape.size() - 1), shape.size() - 1);
    std::vector<std::string> words;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (i == column || i + 1 == column) {
            words.emplace_back(":");
            continue;
        }
        const int64_t wanted = i < wish.index.size() ? wish.index[i] : 0;
        const int64_t at = std::clamp<int64_t>(wanted, 0, std::max<int64_t>(shape[i] - 1, 0));
        slice.begin += at * strides[i];
        words.push_back(fmt::format("{}", at));
    }
    slice.columns = shape[column];
    slice.column_stride = strides[column];
    if (column > 0) {
        slice.rows = shape[column - 1];
        slice.row_stride = strides[column - 1];
    }
    for (const std::string& word : words) slice.text += (slice.text.empty() ? "" : ", ") + word;
    return slice;
}

Json slice_json(const Numbers& numbers, const SliceWish& wish) {
    const Slice slice = slice_of(numbers.shape, wish);
    const int64_t row_step = (slice.rows + kMostSide - 1) / kMostSide;
    const int64_t column_step = (slice.columns + kMostSide - 1) / kMostSide;
    Json values = Json::array();
    int64_t rows = 0, columns = 0;
    for (int64_t r = 0; r < slice.rows; r += std::max<int64_t>(row_step, 1), ++rows) {
        columns = 0;
        for (int64_t c = 0; c < slice.columns; c += std::max<int64_t>(column_step, 1), ++columns) {
            const int64_t at = slice.begin + r * slice.row_stride + c * slice.column_stride;
            values.push_back(number_json(numbers.at(at)));
        }
    }
    std::string text = fmt::format("[{}]", slice.text);
    if (row_step > 1 || column_step > 1)
        text += fmt::format(", each {} of {} rows and each {} of {} columns",
                            row_step == 1 ? "one" : fmt::format("{}th", row_step),
                            slice.rows,
                            column_step == 1 ? "one" : fmt::format("{}th", column_step),
                            slice.columns);
    return {{"shape", {rows, columns}}, {"values", std::move(values)}, {"of", std::move(text)}};
}

// Rank 2, or 3 and 4 with 1 or 3 channels, first or last.
bool is_image(const tensor::Shape& shape) {
    if (shape.size() == 2) return shape[0] > 1 && shape[1] > 1;
    if (shape.size() != 3 && shape.size() != 4) return false;
    const size_t first = shape.size() - 3;
    const auto channels = [](int64_t count) { return count == 1 || count == 3; };
    return channels(shape[first]) || channels(shape.back());
}

Json json_of(const Numbers& numbers, const SliceWish* slice) {
    Json json = {{"dtype", tensor::dtype_name(numbers.dtype)},
                 {"shape", numbers.shape},
                 {"elements", numbers.size}};
    if (numbers.dtype == tensor::DType::Str) return json;
    Moments moments;
    for (int64_t i = 0; i < numbers.size; ++i) moments.add(numbers.at(i));
    if (moments.finite > 0) {
        const auto count = static_cast<double>(moments.finite);
        json["min"] = moments.low;
        json["max"] = moments.high;
        json["mean"] = moments.mean;
        json["std"] = std::sqrt(moments.square / count);
    }
    if (numbers.size > 0) {
        json["zeros"] = static_cast<double>(moments.zeros) / static_cast<double>(numbers.size);
    }
    json["nan"] = moments.nan;
    json["inf"] = moments.inf;
    if (moments.finite > 0) json["histogram"] = histogram(numbers, moments);
    if (slice && numbers.size > 0) json["slice"] = slice_json(numbers, *slice);
    json["image"] = is_image(numbers.shape);
    return json;
}

}  // namespace

Json tensor_json(const tensor::Tensor& tensor, const SliceWish* slice) {
    const Numbers numbers{.dtype = tensor.dtype(),
                          .shape = tensor.shape(),
                          .size = tensor.size(),
                          .at = [&](int64_t i) { return tensor.real(i); }};
    return json_of(numbers, slice);
}

Json tensor_json(const interpret::Array& array, const SliceWish* slice) {
    const bool real = tensor::is_real(array.dtype);
    const Numbers numbers{
        .dtype = array.dtype, .shape = array.shape, .size = array.size, .at = [&, real](int64_t i) {
            const auto at = static_cast<size_t>(i);
            return real ? array.reals[at] : static_cast<double>(array.integers[at]);
        }};
    return json_of(numbers, slice);
}

}  // namespace lemma::view
