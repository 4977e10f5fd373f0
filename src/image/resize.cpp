// SPDX-License-Identifier: Apache-2.0
#include "image/resize.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace lemma::image {

namespace {

constexpr int kBits = 22;  // of weights in fixed point

struct Kernel {
    double radius;
    double (*weight)(double distance);
};

double triangle(double x) {
    x = std::abs(x);
    return x < 1.0 ? 1.0 - x : 0.0;
}

double cubic(double x) {
    constexpr double a = -0.5;
    x = std::abs(x);
    if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
    if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
    return 0.0;
}

// The inputs of one output, and their weights.
struct Window {
    int64_t begin = 0;
    std::vector<int32_t> weights;
};

// One axis from `from` to `to` elements.
std::vector<Window> windows(int64_t from, int64_t to, const Kernel& kernel) {
    const double scale = static_cast<double>(from) / static_cast<double>(to);
    const double stretch = std::max(scale, 1.0);
    const double radius = kernel.radius * stretch;
    std::vector<Window> all(static_cast<size_t>(to));
    for (int64_t i = 0; i < to; ++i) {
        const double centre = (static_cast<double>(i) + 0.5) * scale;
        const auto begin = std::max<int64_t>(0, static_cast<int64_t>(centre - radius + 0.5));
        const auto end = std::min<int64_t>(from, static_cast<int64_t>(centre + radius + 0.5));
        std::vector<double> weights;
        double sum = 0;
        for (int64_t k = begin; k < end; ++k) {
            weights.push_back(
                kernel.weight((static_cast<double>(k) - centre + 0.5) * (1.0 / stretch)));
            sum += weights.back();
        }
        Window& window = all[static_cast<size_t>(i)];
        window.begin = begin;
        for (const double weight : weights) {
            const double scaled = (sum == 0 ? weight : weight / sum) * (1 << kBits);
            window.weights.push_back(static_cast<int32_t>(scaled + (scaled < 0 ? -0.5 : 0.5)));
        }
    }
    return all;
}

uint8_t rounded(int64_t sum) {
    const int64_t value = (sum + (int64_t{1} << (kBits - 1))) >> kBits;
    return static_cast<uint8_t>(std::clamp<int64_t>(value, 0, 255));
}

Image resize_rows(const Image& image, int64_t width, const Kernel& kernel) {
    const auto all = windows(image.size.width, width, kernel);
    Image result = Image::blank({image.size.height, width}, image.channels);
    for (int64_t y = 0; y < image.size.height; ++y) {
        const uint8_t* const from = image.row(y);
        uint8_t* to = result.row(y);
        for (const Window& window : all) {
            for (int64_t c = 0; c < image.channels; ++c) {
                int64_t sum = 0;
                const uint8_t* at = from + window.begin * image.channels + c;
                for (const int32_t weight : window.weights) {
                    sum += int64_t{weight} * *at;
                    at += image.channels;
                }
                *to++ = rounded(sum);
            }
        }
    }
    return result;
}

Image resize_columns(const Image& image, int64_t height, const Kernel& kernel) {
    const auto all = windows(image.size.height, height, kernel);
    Image result = Image::blank({height, image.size.width}, image.channels);
    const int64_t row = image.size.width * image.channels;
    std::vector<int64_t> sums(static_cast<size_t>(row));
    for (int64_t y = 0; y < height; ++y) {
        const Window& window = all[static_cast<size_t>(y)];
        std::ranges::fill(sums, 0);
        for (size_t k = 0; k < window.weights.size(); ++k) {
            const uint8_t* const from = image.row(window.begin + static_cast<int64_t>(k));
            for (size_t x = 0; x < sums.size(); ++x)
                sums[x] += int64_t{window.weights[k]} * from[x];
        }
        std::ranges::transform(sums, result.row(y), rounded);
    }
    return result;
}

// The input of each output. Pillow adds up the steps, which decides where a centre lies on a
// border.
std::vector<int64_t> nearest(int64_t from, int64_t to) {
    const double step = static_cast<double>(from) / static_cast<double>(to);
    double centre = step * 0.5;
    std::vector<int64_t> sources;
    for (int64_t i = 0; i < to; ++i) {
        sources.push_back(std::min(static_cast<int64_t>(centre), from - 1));
        centre += step;
    }
    return sources;
}

Image resize_nearest(const Image& image, Size size) {
    const auto rows = nearest(image.size.height, size.height);
    const auto columns = nearest(image.size.width, size.width);
    Image result = Image::blank(size, image.channels);
    for (int64_t y = 0; y < size.height; ++y) {
        const uint8_t* const from = image.row(rows[static_cast<size_t>(y)]);
        uint8_t* to = result.row(y);
        for (const int64_t x : columns)
            to = std::copy_n(from + x * image.channels, image.channels, to);
    }
    return result;
}

// Half of a difference, rounded to even, as Python's round.
int64_t half(int64_t rest) {
    const int64_t floor = rest / 2;
    return rest % 2 == 0 ? floor : floor + floor % 2;
}

}  // namespace

Image resize(const Image& image, Size size, Filter filter) {
    LEMMA_CHECK(size.height > 0 && size.width > 0 && !image.pixels.empty());
    if (size == image.size) return image;
    if (filter == Filter::Nearest) return resize_nearest(image, size);
    const Kernel kernel = filter == Filter::Bilinear ? Kernel{1.0, triangle} : Kernel{2.0, cubic};
    const Image wide =
        size.width == image.size.width ? image : resize_rows(image, size.width, kernel);
    return size.height == wide.size.height ? wide : resize_columns(wide, size.height, kernel);
}

Image crop_middle(const Image& image, Size size) {
    LEMMA_CHECK(size.height <= image.size.height && size.width <= image.size.width);
    Image result = Image::blank(size, image.channels);
    const int64_t top = half(image.size.height - size.height);
    const int64_t left = half(image.size.width - size.width);
    for (int64_t y = 0; y < size.height; ++y) {
        std::copy_n(
            image.row(top + y) + left * image.channels, size.width * image.channels, result.row(y));
    }
    return result;
}

}  // namespace lemma::image
