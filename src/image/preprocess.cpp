// SPDX-License-Identifier: Apache-2.0
#include "image/preprocess.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace lemma::image {

namespace {

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

std::string size_text(Size size) { return fmt::format("{}x{}", size.height, size.width); }

// The shorter side gets the length; the longer one keeps the ratio, rounded down.
Result<Size> scaled(Size size, int64_t shorter) {
    const auto longer = [&](int64_t length, int64_t other) {
        return static_cast<int64_t>(static_cast<double>(shorter) * static_cast<double>(length) /
                                    static_cast<double>(other));
    };
    Size result = size.width <= size.height ? Size{longer(size.height, size.width), shorter}
                                            : Size{shorter, longer(size.width, size.height)};
    if (result.height > kMaxPixels / result.width) {
        return bad(fmt::format("its sides are {}: with {} on the shorter one it would be too large",
                               size_text(size),
                               shorter));
    }
    return result;
}

Result<Image> with_size(Image image, const Recipe& recipe) {
    if (recipe.exact) image = resize(image, *recipe.exact, recipe.filter);
    if (recipe.shorter_side > 0) {
        LEMMA_TRY(const Size size, scaled(image.size, recipe.shorter_side));
        image = resize(image, size, recipe.filter);
    }
    if (!recipe.crop) return image;
    if (recipe.crop->height > image.size.height || recipe.crop->width > image.size.width) {
        return bad(fmt::format("crop={} is larger than the picture of {}: add a larger resize=…",
                               size_text(*recipe.crop),
                               size_text(image.size)));
    }
    return crop_middle(image, *recipe.crop);
}

float number_for(const std::vector<float>& numbers, int64_t channel) {
    return numbers.size() == 1 ? numbers[0] : numbers[static_cast<size_t>(channel)];
}

// The value of each byte in a channel.
std::vector<float> values_of(const Recipe& recipe, int64_t channel) {
    std::vector<float> values(256);
    for (size_t pixel = 0; pixel < values.size(); ++pixel) {
        const float scaled = static_cast<float>(pixel) * recipe.multiplier / recipe.divisor;
        values[pixel] =
            (scaled - number_for(recipe.mean, channel)) / number_for(recipe.deviation, channel);
    }
    return values;
}

tensor::Shape shape_of(const Image& image, Layout layout) {
    const auto [height, width] = image.size;
    switch (layout) {
        case Layout::Nchw:
            return {1, image.channels, height, width};
        case Layout::Nhwc:
            return {1, height, width, image.channels};
        case Layout::Chw:
            return {image.channels, height, width};
        case Layout::Hw:
            return {height, width};
        case Layout::Hwc:
            break;
    }
    return {height, width, image.channels};
}

void store(const std::vector<float>& values,
           const Image& image,
           const Recipe& recipe,
           int64_t channel,
           tensor::Tensor& tensor) {
    // The channel of the picture for this channel of the tensor.
    const int64_t from = recipe.channels == Channels::Bgr ? image.channels - 1 - channel : channel;
    const bool planes = recipe.layout == Layout::Nchw || recipe.layout == Layout::Chw;
    const int64_t pixels = image.size.height * image.size.width;
    for (int64_t i = 0; i < pixels; ++i) {
        const float value = values[image.pixels[static_cast<size_t>(i * image.channels + from)]];
        const int64_t to = planes ? channel * pixels + i : i * image.channels + channel;
        if (recipe.dtype == tensor::DType::U8) {
            tensor.set_integer(to, static_cast<int64_t>(std::clamp(value + 0.5F, 0.0F, 255.0F)));
        } else {
            tensor.set_real(to, value);
        }
    }
}

Image as_channels(const Image& image, Channels channels) {
    if (channels == Channels::Grey) return to_grey(image);
    if (image.channels == 3) return image;
    Image colour = Image::blank(image.size, 3);
    for (size_t i = 0; i < colour.pixels.size(); ++i) colour.pixels[i] = image.pixels[i / 3];
    return colour;
}

}  // namespace

Result<tensor::Tensor> preprocess(const Image& image, const Recipe& recipe) {
    Image converted = as_channels(image, recipe.channels);
    if (recipe.invert) {
        for (uint8_t& pixel : converted.pixels) pixel = static_cast<uint8_t>(255 - pixel);
    }
    LEMMA_TRY(const Image sized, with_size(std::move(converted), recipe));
    LEMMA_TRY(tensor::Tensor tensor,
              tensor::Tensor::zeros(recipe.dtype, shape_of(sized, recipe.layout)));
    for (int64_t channel = 0; channel < sized.channels; ++channel)
        store(values_of(recipe, channel), sized, recipe, channel, tensor);
    return tensor;
}

}  // namespace lemma::image
