// SPDX-License-Identifier: Apache-2.0
#include "image/resize.h"

#include <gtest/gtest.h>

#include <numeric>

namespace lemma::image {

namespace {

Image picture(Size size) {
    Image image = Image::blank(size, 3);
    for (int64_t y = 0; y < size.height; ++y) {
        for (int64_t x = 0; x < size.width; ++x) {
            for (int64_t c = 0; c < 3; ++c) {
                image.row(y)[x * 3 + c] =
                    static_cast<uint8_t>((x * 37 + y * 101 + c * 53 + x * y * 7) % 256);
            }
        }
    }
    return image;
}

struct Sums {
    int64_t plain = 0;
    int64_t by_place = 0;  // each byte times its place, from 1 on
    bool operator==(const Sums&) const = default;
};

Sums sums(const Image& image) {
    Sums result;
    for (size_t i = 0; i < image.pixels.size(); ++i) {
        result.plain += image.pixels[i];
        result.by_place += image.pixels[i] * static_cast<int64_t>(i + 1);
    }
    return result;
}

// Numbers of Pillow 9.4: Image.resize of the same picture of 9 × 13.
TEST(Resize, HasTheNumbersOfPillow) {
    const Image from = picture({9, 13});
    EXPECT_EQ(resize(from, {4, 5}, Filter::Bilinear).pixels,
              (std::vector<uint8_t>{114, 139, 151, 128, 143, 139, 134, 132, 113, 123, 138, 129,
                                    127, 152, 126, 139, 131, 134, 124, 121, 103, 139, 143, 132,
                                    145, 138, 133, 148, 137, 113, 146, 121, 138, 129, 111, 117,
                                    133, 127, 116, 133, 128, 135, 104, 146, 126, 124, 143, 135,
                                    136, 140, 111, 132, 147, 125, 114, 151, 134, 118, 139, 141}));
    EXPECT_EQ(sums(resize(from, {11, 17}, Filter::Bilinear)), (Sums{73346, 20627863}));
    EXPECT_EQ(sums(resize(from, {4, 5}, Filter::Bicubic)), (Sums{7873, 239631}));
    EXPECT_EQ(sums(resize(from, {11, 17}, Filter::Bicubic)), (Sums{73331, 20613409}));
    EXPECT_EQ(sums(resize(from, {4, 5}, Filter::Nearest)), (Sums{8324, 253056}));
    EXPECT_EQ(sums(resize(from, {11, 17}, Filter::Nearest)), (Sums{72991, 20351415}));
}

TEST(Resize, GreyHasTheNumbersOfPillow) {
    const Image grey = to_grey(picture({9, 13}));
    EXPECT_EQ(grey.channels, 1);
    EXPECT_EQ(std::vector<uint8_t>(grey.pixels.begin(), grey.pixels.begin() + 8),
              (std::vector<uint8_t>{43, 80, 117, 154, 191, 199, 86, 46}));
    EXPECT_EQ(std::accumulate(grey.pixels.begin(), grey.pixels.end(), int64_t{0}), 15534);
}

TEST(Resize, KeepsAConstantPicture) {
    Image white = Image::blank({5, 3}, 1);
    for (uint8_t& pixel : white.pixels) pixel = 255;
    for (const Filter filter : {Filter::Nearest, Filter::Bilinear, Filter::Bicubic}) {
        for (const Size size : {Size{1, 1}, Size{2, 7}, Size{40, 1}}) {
            for (const uint8_t pixel : resize(white, size, filter).pixels) EXPECT_EQ(pixel, 255);
        }
    }
}

TEST(Resize, CropsTheMiddle) {
    const Image from = picture({9, 13});
    const Image part = crop_middle(from, {4, 6});
    // 5 / 2 rounds to 2, 7 / 2 to 4: halves to even.
    EXPECT_EQ(part.size, (Size{4, 6}));
    EXPECT_EQ(part.row(0)[0], from.row(2)[4 * 3]);
    EXPECT_EQ(part.row(3)[5 * 3 + 2], from.row(5)[9 * 3 + 2]);
    EXPECT_EQ(crop_middle(from, from.size).pixels, from.pixels);
}

}  // namespace

}  // namespace lemma::image
