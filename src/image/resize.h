// SPDX-License-Identifier: Apache-2.0
// image/resize.h — pictures in another size, and parts of pictures. The numbers are those of Pillow
// (PIL), on which most models were trained; a test compares them.
#pragma once

#include "image/image.h"

namespace lemma::image {

enum class Filter {
    Nearest,
    Bilinear,  // triangles; wider where the picture shrinks, against aliasing
    Bicubic,   // with a = -0.5, likewise
};

// Neither size has an extent of 0. Rows and columns are filtered one after the other, in fixed
// point with 22 bits, and rounded to bytes each time.
Image resize(const Image& image, Size size, Filter filter);

// The part of this size in the middle; it must fit. An odd rest is split as by torchvision.
Image crop_middle(const Image& image, Size size);

}  // namespace lemma::image
