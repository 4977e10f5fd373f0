// SPDX-License-Identifier: Apache-2.0
// tensor/files/npy_header.h — the header of .npy files, versions 1 to 3: a dictionary in Python's
// notation that describes the elements and their order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace lemma::tensor {

// Strings have a fixed number of characters in the file.
enum class NpyText : uint8_t { None, Bytes, Utf32 };

struct NpyHeader {
    DType dtype = DType::F32;  // Str for both kinds of text
    NpyText text = NpyText::None;
    int64_t item_bytes = 4;
    bool big_endian = false;
    bool fortran = false;  // the first index runs fastest
    Shape shape;
    size_t data_begin = 0;  // offset in the file
};

// Reads and checks the header; the rest of the file must match the shape. The claimed size costs no
// memory.
Result<NpyHeader> decode_npy_header(std::string_view file);
// The bytes before the elements, a multiple of 64.
std::string encode_npy_header(const NpyHeader& header);

}  // namespace lemma::tensor
