// SPDX-License-Identifier: Apache-2.0
// tensor/files/nnef_data.h — the elements of NNEF's .dat files, and whole files (nnef_file.h has
// the header). Items of whole bytes are little endian. Items of other widths form a bit stream, the
// most significant bit first: 3-bit 1, 2 are the bits 001 010.
#pragma once

#include <string>
#include <string_view>

#include "tensor/files/nnef_file.h"
#include "tensor/tensor.h"

namespace lemma::tensor {

// The dtype of items in memory: floats and bools keep their type, integers get the smallest width
// that holds their bits. Quantised items are integer codes, or f32 if deprecated parameters in the
// header define their values.
DType dtype_of_items(const NnefHeader& header);
// The header for a tensor whose items are as wide as in memory; bools take 1 bit, bf16 becomes f32.
NnefHeader nnef_header_for(const Tensor& tensor);

// The elements; `data` is the part of the file that the header describes.
Result<Tensor> decode_nnef_data(const NnefHeader& header, std::string_view data);
// The inverse. The tensor has the header's shape and a dtype of the same kind as the items. An
// integer that does not fit the bits is an error that names the element. Reals are rounded.
Result<std::string> encode_nnef_data(const NnefHeader& header, const Tensor& tensor);

// Whole files. The data is read only if the header agrees with the size of the file.
Result<Tensor> decode_nnef(std::string_view file);
Result<std::string> encode_nnef(const Tensor& tensor);
Result<Tensor> read_nnef(const std::string& path);
Result<void> write_nnef(const std::string& path, const Tensor& tensor);

}  // namespace lemma::tensor
