// tensor/files/nnef_data.h — the elements of NNEF's .dat files, and whole files (the header alone
// is in nnef_file.h). Items of whole bytes are little endian. Items of other widths follow one
// another as a stream of bits, the most significant bit first: 3-bit 1, 2 are the bits 001 010.
#pragma once

#include <string>
#include <string_view>

#include "tensor/files/nnef_file.h"
#include "tensor/tensor.h"

namespace lemma::tensor {

// The dtype that items have in memory: floats and bools as they are, integers in the smallest width
// that holds their bits. Quantised items are the codes, as integers, unless the deprecated
// parameters of the header say what they stand for: then they are f32.
DType dtype_of_items(const NnefHeader& header);
// The header for a tensor whose items are as wide as in memory: bools take 1 bit, bf16 becomes f32.
NnefHeader nnef_header_for(const Tensor& tensor);

// The elements; `data` is the part of the file that the header names.
Result<Tensor> decode_nnef_data(const NnefHeader& header, std::string_view data);
// The other way round. The tensor has the header's shape and a dtype of the same kind as the items;
// an integer that the bits cannot hold is an error that names the element. Reals round.
Result<std::string> encode_nnef_data(const NnefHeader& header, const Tensor& tensor);

// Whole files. Data is read once its header has been found to agree with the size of the file.
Result<Tensor> decode_nnef(std::string_view file);
Result<std::string> encode_nnef(const Tensor& tensor);
Result<Tensor> read_nnef(const std::string& path);
Result<void> write_nnef(const std::string& path, const Tensor& tensor);

}  // namespace lemma::tensor
