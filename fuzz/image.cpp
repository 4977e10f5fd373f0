// SPDX-License-Identifier: Apache-2.0
// Bytes as a picture: decoding gives a whole picture or an error, and a recipe a tensor or an
// error.
#include "image/image.h"

#include <png.h>
#include <turbojpeg.h>

#include "base/check.h"
#include "image/preprocess.h"
#include "seeds.h"

using namespace lemma;
using namespace lemma::image;

namespace {

std::string png_of(const Image& image) {
    png_image control{};
    control.version = PNG_IMAGE_VERSION;
    control.height = static_cast<uint32_t>(image.size.height);
    control.width = static_cast<uint32_t>(image.size.width);
    control.format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    std::string bytes(1 << 16, '\0');
    png_alloc_size_t size = bytes.size();
    LEMMA_CHECK(png_image_write_to_memory(
        &control, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr));
    bytes.resize(size);
    return bytes;
}

std::string jpeg_of(const Image& image, std::mt19937& random) {
    const bool grey = image.channels == 1;
    tjhandle handle = tjInitCompress();
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    tjCompress2(handle,
                image.pixels.data(),
                static_cast<int>(image.size.width),
                0,
                static_cast<int>(image.size.height),
                grey ? TJPF_GRAY : TJPF_RGB,
                &bytes,
                &size,
                grey ? TJSAMP_GRAY : TJSAMP_420,
                90,
                random() % 2 == 0 ? TJFLAG_PROGRESSIVE : 0);
    std::string result(reinterpret_cast<const char*>(bytes), size);
    tjFree(bytes);
    tjDestroy(handle);
    return result;
}

}  // namespace

std::string lemma::fuzz::make_seed(std::mt19937& random) {
    const auto side = [&] { return static_cast<int64_t>(1 + random() % 20); };
    Image image = Image::blank({side(), side()}, random() % 2 == 0 ? 1 : 3);
    for (uint8_t& pixel : image.pixels) pixel = static_cast<uint8_t>(random());
    return random() % 2 == 0 ? png_of(image) : jpeg_of(image, random);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    // A valid header may ask for much memory; that takes long and shows nothing.
    constexpr int64_t kMostPixels = 1 << 20;
    const auto image = decode({reinterpret_cast<const char*>(data), size});
    if (!image) return 0;
    LEMMA_CHECK(std::ssize(image->pixels) ==
                image->size.height * image->size.width * image->channels);
    if (image->size.height * image->size.width > kMostPixels) return 0;
    const auto recipe = parse_recipe("resize=13,crop=9,filter=bicubic");
    LEMMA_CHECK(recipe);
    const auto tensor = preprocess(*image, *recipe);
    if (tensor) LEMMA_CHECK(tensor->size() == 3 * 9 * 9);
    return 0;
}
