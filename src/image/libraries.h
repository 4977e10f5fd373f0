// SPDX-License-Identifier: Apache-2.0
// image/libraries.h — libpng and libjpeg-turbo, loaded when the first picture is decoded
// (docs/decisions/image-decoder.md).
#pragma once

#include <png.h>
#include <turbojpeg.h>

#include "base/result.h"

namespace lemma::image {

// The functions that we call.
#define LEMMA_PNG_FUNCTIONS(X)          \
    X(png_image_begin_read_from_memory) \
    X(png_image_finish_read)            \
    X(png_image_free)

#define LEMMA_JPEG_FUNCTIONS(X) \
    X(tjInitDecompress)         \
    X(tjDecompressHeader3)      \
    X(tjDecompress2)            \
    X(tjGetErrorCode)           \
    X(tjGetErrorStr2)           \
    X(tjDestroy)

#define LEMMA_DECLARE(name) decltype(&::name) name = nullptr;
struct PngLibrary {
    LEMMA_PNG_FUNCTIONS(LEMMA_DECLARE)
};
struct JpegLibrary {
    LEMMA_JPEG_FUNCTIONS(LEMMA_DECLARE)
};
#undef LEMMA_DECLARE

// Loads the library once; it stays loaded. The error says what is missing.
Result<const PngLibrary*> load_png();
Result<const JpegLibrary*> load_jpeg();

}  // namespace lemma::image
