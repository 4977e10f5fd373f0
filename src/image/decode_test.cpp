// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <png.h>
#include <turbojpeg.h>

#include <random>
#include <string>

#include "image/image.h"

namespace lemma::image {

namespace {

Image gradient(Size size, int64_t channels) {
    Image image = Image::blank(size, channels);
    for (size_t i = 0; i < image.pixels.size(); ++i)
        image.pixels[i] = static_cast<uint8_t>(i * 5 % 256);
    return image;
}

std::string png_of(const Image& image, uint32_t format) {
    png_image control{};
    control.version = PNG_IMAGE_VERSION;
    control.height = static_cast<uint32_t>(image.size.height);
    control.width = static_cast<uint32_t>(image.size.width);
    control.format = format;
    std::string bytes(1 << 20, '\0');
    png_alloc_size_t size = bytes.size();
    EXPECT_TRUE(png_image_write_to_memory(
        &control, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr));
    bytes.resize(size);
    return bytes;
}

std::string jpeg_of(const Image& image, int format, int sampling) {
    tjhandle handle = tjInitCompress();
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    EXPECT_EQ(tjCompress2(handle,
                          image.pixels.data(),
                          static_cast<int>(image.size.width),
                          0,
                          static_cast<int>(image.size.height),
                          format,
                          &bytes,
                          &size,
                          sampling,
                          95,
                          0),
              0);
    std::string result(reinterpret_cast<const char*>(bytes), size);
    tjFree(bytes);
    tjDestroy(handle);
    return result;
}

std::string message(const Result<Image>& result) { return result ? "" : result.error().message; }

TEST(Decode, PngKeepsThePixels) {
    const Image colour = gradient({7, 5}, 3), grey = gradient({4, 9}, 1);
    const auto decoded = decode(png_of(colour, PNG_FORMAT_RGB));
    ASSERT_TRUE(decoded) << message(decoded);
    EXPECT_EQ(decoded->size, colour.size);
    EXPECT_EQ(decoded->pixels, colour.pixels);
    const auto decoded_grey = decode(png_of(grey, PNG_FORMAT_GRAY));
    ASSERT_TRUE(decoded_grey) << message(decoded_grey);
    EXPECT_EQ(decoded_grey->channels, 1);
    EXPECT_EQ(decoded_grey->pixels, grey.pixels);
}

TEST(Decode, PngDropsTransparency) {
    Image with_alpha = gradient({2, 2}, 4);
    for (size_t i = 3; i < with_alpha.pixels.size(); i += 4) with_alpha.pixels[i] = 0;
    const auto decoded = decode(png_of(with_alpha, PNG_FORMAT_RGBA));
    ASSERT_TRUE(decoded) << message(decoded);
    EXPECT_EQ(decoded->channels, 3);
    EXPECT_EQ(decoded->pixels[0], with_alpha.pixels[0]);
    EXPECT_EQ(decoded->pixels[5], with_alpha.pixels[6]);
}

TEST(Decode, JpegIsNearThePixels) {
    Image smooth = Image::blank({16, 24}, 3);
    for (int64_t y = 0; y < 16; ++y) {
        for (int64_t i = 0; i < 24 * 3; ++i)
            smooth.row(y)[i] = static_cast<uint8_t>(y * 8 + i / 3 * 4);
    }
    const auto decoded = decode(jpeg_of(smooth, TJPF_RGB, TJSAMP_444));
    ASSERT_TRUE(decoded) << message(decoded);
    ASSERT_EQ(decoded->size, smooth.size);
    for (size_t i = 0; i < smooth.pixels.size(); ++i)
        EXPECT_NEAR(decoded->pixels[i], smooth.pixels[i], 4);
    const auto grey = decode(jpeg_of(gradient({8, 8}, 1), TJPF_GRAY, TJSAMP_GRAY));
    ASSERT_TRUE(grey) << message(grey);
    EXPECT_EQ(grey->channels, 1);
}

TEST(Decode, RefusesOtherColoursAndFormats) {
    EXPECT_NE(message(decode(jpeg_of(gradient({8, 8}, 4), TJPF_CMYK, TJSAMP_444))).find("CMYK"),
              std::string::npos);
    EXPECT_NE(message(decode("GIF89a")).find("neither"), std::string::npos);
    EXPECT_NE(message(decode("")).find("neither"), std::string::npos);
}

// A header of 40 bytes can claim any size.
TEST(Decode, RefusesHugePictures) {
    std::string bytes = png_of(gradient({2, 2}, 3), PNG_FORMAT_RGB);
    const size_t size_at = 16;
    bytes.replace(size_at, 8, std::string("\x00\x7f\xff\xff\x00\x7f\xff\xff", 8));
    const std::string reason = message(decode(bytes));
    EXPECT_NE(reason, "");
}

TEST(Decode, EveryTruncationAndDamageIsAnErrorOrAPicture) {
    const std::string files[] = {png_of(gradient({7, 5}, 3), PNG_FORMAT_RGB),
                                 jpeg_of(gradient({16, 16}, 3), TJPF_RGB, TJSAMP_420)};
    for (const std::string& file : files) {
        for (size_t size = 0; size + 12 < file.size(); ++size)
            EXPECT_FALSE(decode(file.substr(0, size))) << size;
        std::mt19937 random(7);
        for (int i = 0; i < 2000; ++i) {
            std::string damaged = file;
            damaged[random() % damaged.size()] = static_cast<char>(random());
            damaged[random() % damaged.size()] = static_cast<char>(random());
            const auto result = decode(damaged);
            if (result) {
                EXPECT_EQ(std::ssize(result->pixels),
                          result->size.height * result->size.width * result->channels);
            }
        }
    }
}

}  // namespace

}  // namespace lemma::image
