// SPDX-License-Identifier: Apache-2.0
// image/image.h — pictures as bytes, and the decoding of PNG and JPEG files.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lemma::image {

// Larger pictures are refused: no model reads them, and a small file can claim any size.
inline constexpr int64_t kMaxPixels = int64_t{1} << 27;

struct Size {
    int64_t height = 0;
    int64_t width = 0;
    bool operator==(const Size&) const = default;
};

// Rows from top to bottom, pixels from left to right, the channels of a pixel side by side.
struct Image {
    Size size;
    int64_t channels = 3;  // 3: red, green, blue; 1: grey
    std::vector<uint8_t> pixels;

    static Image blank(Size size, int64_t channels);
    uint8_t* row(int64_t y) { return &pixels[static_cast<size_t>(y * size.width * channels)]; }
    const uint8_t* row(int64_t y) const {
        return &pixels[static_cast<size_t>(y * size.width * channels)];
    }
};

// By the first bytes.
bool is_image(std::string_view bytes);
// By the ending of the name.
bool is_image_name(std::string_view path);

// A picture of 8 bits per channel. Transparency is dropped, palettes and 16 bits are converted, and
// the orientation that a camera noted is not applied. Errors call the file `it`.
Result<Image> decode(std::string_view bytes);

// 0.299 red + 0.587 green + 0.114 blue, rounded.
Image to_grey(const Image& image);

}  // namespace lemma::image
