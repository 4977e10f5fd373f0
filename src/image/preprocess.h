// SPDX-License-Identifier: Apache-2.0
// image/preprocess.h — how a picture becomes a tensor: `--preprocess=imagenet`, or spelled out,
// `--preprocess=resize=256,crop=224,mean=0.5,std=0.5`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "image/image.h"
#include "image/resize.h"
#include "tensor/tensor.h"

namespace lemma::image {

enum class Channels { Rgb, Bgr, Grey };
enum class Layout { Nchw, Nhwc, Chw, Hwc, Hw };

// The steps in their order: channels, inversion, resize, crop, numbers, layout.
struct Recipe {
    Channels channels = Channels::Rgb;
    bool invert = false;        // 255 - pixel
    int64_t shorter_side = 0;   // resize so; 0: do not
    std::optional<Size> exact;  // or to this size
    Filter filter = Filter::Bilinear;
    std::optional<Size> crop;  // the middle
    // value = (pixel · multiplier / divisor - mean) / deviation, in f32
    float multiplier = 1;
    float divisor = 255;
    std::vector<float> mean = {0};       // for all channels, or for each
    std::vector<float> deviation = {1};  // likewise
    Layout layout = Layout::Nchw;
    tensor::DType dtype = tensor::DType::F32;
};

// A named recipe, words such as `crop=224`, or a name and words that change it. Errors name the
// word and what it may be.
Result<Recipe> parse_recipe(std::string_view text);
// The named recipes spelled out, and the words.
std::string recipe_help();
// For completions.
std::vector<std::string> recipe_names();

// An error if the picture is smaller than the part to take.
Result<tensor::Tensor> preprocess(const Image& image, const Recipe& recipe);

}  // namespace lemma::image
