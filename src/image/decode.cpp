// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>

#include "image/image.h"
#include "image/libraries.h"

namespace lemma::image {

namespace {

constexpr std::string_view kPngMagic = "\x89PNG\r\n\x1a\n";
constexpr std::string_view kJpegMagic = "\xff\xd8\xff";

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

Result<void> check_size(int64_t height, int64_t width) {
    if (height <= 0 || width <= 0) return bad("it has no pixels");
    // Both are at most 2^31, so the product fits.
    if (height * width <= kMaxPixels) return {};
    return bad(fmt::format(
        "it has {} × {} pixels, more than {}: make it smaller first", width, height, kMaxPixels));
}

// ---- PNG ----------------------------------------------------------------------------------------

Result<Image> decode_png(std::string_view bytes) {
    LEMMA_TRY(const PngLibrary* const lib, load_png());
    png_image control{};
    control.version = PNG_IMAGE_VERSION;
    // Frees what the library allocated, on every way out.
    const std::unique_ptr<png_image, decltype(lib->png_image_free)> owner(&control,
                                                                          lib->png_image_free);
    const auto trouble = [&] {
        return bad(fmt::format("the PNG file is damaged ({})", control.message));
    };
    if (!lib->png_image_begin_read_from_memory(&control, bytes.data(), bytes.size()))
        return trouble();
    LEMMA_TRY(check_size(control.height, control.width));
    // 16 bits without a gamma are as most programs write them, not linear.
    control.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    const bool colour = (control.format & PNG_FORMAT_FLAG_COLOR) != 0;
    // With alpha, so that the library does not blend with a background.
    control.format = colour ? PNG_FORMAT_RGBA : PNG_FORMAT_GA;
    Image with_alpha = Image::blank({control.height, control.width}, colour ? 4 : 2);
    if (!lib->png_image_finish_read(&control, nullptr, with_alpha.pixels.data(), 0, nullptr))
        return trouble();
    if (PNG_IMAGE_FAILED(control)) return trouble();
    Image image = Image::blank(with_alpha.size, colour ? 3 : 1);
    const auto channels = static_cast<size_t>(image.channels);
    const size_t count = image.pixels.size() / channels;
    for (size_t i = 0; i < count; ++i) {
        for (size_t c = 0; c < channels; ++c)
            image.pixels[i * channels + c] = with_alpha.pixels[i * (channels + 1) + c];
    }
    return image;
}

// ---- JPEG ---------------------------------------------------------------------------------------

Result<Image> decode_jpeg(std::string_view bytes) {
    LEMMA_TRY(const JpegLibrary* const lib, load_jpeg());
    const std::unique_ptr<void, decltype(lib->tjDestroy)> handle(lib->tjInitDecompress(),
                                                                 lib->tjDestroy);
    if (!handle) return bad("out of memory");
    const auto trouble = [&] {
        return bad(fmt::format("the JPEG file is damaged ({})", lib->tjGetErrorStr2(handle.get())));
    };
    const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
    int width = 0, height = 0, sampling = 0, colours = 0;
    if (lib->tjDecompressHeader3(
            handle.get(), data, bytes.size(), &width, &height, &sampling, &colours) != 0)
        return trouble();
    LEMMA_TRY(check_size(height, width));
    if (colours == TJCS_CMYK || colours == TJCS_YCCK)
        return bad("its colours are CMYK: convert it to RGB first");
    const bool grey = colours == TJCS_GRAY;
    Image image = Image::blank({height, width}, grey ? 1 : 3);
    const int done = lib->tjDecompress2(handle.get(),
                                        data,
                                        bytes.size(),
                                        image.pixels.data(),
                                        width,
                                        0,
                                        height,
                                        grey ? TJPF_GRAY : TJPF_RGB,
                                        TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS);
    if (done == 0) return image;
    // Surplus bytes between markers are harmless; a missing end is not.
    const std::string_view reason = lib->tjGetErrorStr2(handle.get());
    const bool harmless = lib->tjGetErrorCode(handle.get()) == TJERR_WARNING &&
                          reason.find("Premature") == std::string_view::npos &&
                          reason.find("Corrupt") == std::string_view::npos;
    if (!harmless) return trouble();
    return image;
}

}  // namespace

Image Image::blank(Size size, int64_t channels) {
    Image image{.size = size, .channels = channels, .pixels = {}};
    image.pixels.resize(static_cast<size_t>(size.height * size.width * channels));
    return image;
}

bool is_image(std::string_view bytes) {
    return bytes.starts_with(kPngMagic) || bytes.starts_with(kJpegMagic);
}

bool is_image_name(std::string_view path) {
    std::string name(path);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name.ends_with(".png") || name.ends_with(".jpg") || name.ends_with(".jpeg");
}

Result<Image> decode(std::string_view bytes) {
    if (bytes.starts_with(kPngMagic)) return decode_png(bytes);
    if (bytes.starts_with(kJpegMagic)) return decode_jpeg(bytes);
    return bad("it begins neither as a PNG nor as a JPEG file");
}

Image to_grey(const Image& image) {
    if (image.channels == 1) return image;
    Image grey = Image::blank(image.size, 1);
    for (size_t i = 0; i < grey.pixels.size(); ++i) {
        const uint8_t* const rgb = &image.pixels[3 * i];
        // Fixed point with 16 bits; the weights sum to 65536.
        const uint32_t sum = 19595U * rgb[0] + 38470U * rgb[1] + 7471U * rgb[2];
        grey.pixels[i] = static_cast<uint8_t>((sum + 0x8000U) >> 16);
    }
    return grey;
}

}  // namespace lemma::image
