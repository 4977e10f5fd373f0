// SPDX-License-Identifier: Apache-2.0
// nnef1/import/quantization.h — the quantisers that `graph.quant` gives to tensors of a graph
// (specification, 5.3 and chapter 7).
#pragma once

#include "nnef1/import/import.h"
#include "nnef1/syntax/quant_file.h"

namespace lemma::nnef1 {

// The fragment that documents define for `quant.zero_point_linear_quantize` of SkriptND, which
// rounds halves away from zero.
inline constexpr std::string_view kAwayQuantizer = "zero_point_linear_quantize_away";

// A tensor argument of the quantiser: one number, or an item per channel.
struct QuantTensor {
    std::string name;
    ir::DType dtype{};
    std::vector<int64_t> shape;
    std::vector<ir::Scalar> items;  // in row-major order
};
struct TensorQuantizer {
    std::string tensor;  // an identifier of the graph
    std::string op;
    std::vector<QuantTensor> tensors;  // in order of declaration, without the quantised one
    std::vector<ir::Attribute> attributes;
    bool standard = false;     // otherwise it is a fragment of the document
    bool rounds_away = false;  // the fragment is kAwayQuantizer, unchanged
    Span span;
};

// Checks names of tensors and operations, and the types of arguments.
std::vector<TensorQuantizer> check_quantization(const QuantFile& file,
                                                const Document& document,
                                                const Operations& operations,
                                                const ImportOptions& options,
                                                Diagnostics& diag);

// The quantiser of a tensor of the program: its tensors are packs with their channel axis.
ir::Quantizer to_quantizer(const TensorQuantizer& quantizer);

}  // namespace lemma::nnef1
