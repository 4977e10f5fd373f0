// SPDX-License-Identifier: Apache-2.0
// onnx/read.h — reads the bytes of a .onnx file as a Model. It skips unknown fields, as the format
// requires. Memory use is proportional to the size of the file.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "onnx/model.h"

namespace lemma::onnx {

struct ReadLimits {
    int64_t max_parts = 20'000'000;  // nodes, attributes, tensors, names of all graphs together
};

// Tensors of fewer bytes are read with the model.
inline constexpr int64_t kLargeElements = int64_t{1} << 16;

// Holds the bytes of a mapped file that read_model needs: all but the elements of large tensors.
// Decoding holds those. Gives the bytes that it holds on purpose. The error names the file.
Result<std::vector<std::string_view>> hold_model(const tensor::SharedBytes& bytes);

// An error gives the place of the damage, or says that the bytes are not a model. `Model::faults`
// lists problems of single tensors.
Result<Model> read_model(tensor::SharedBytes bytes, const ReadLimits& limits = {});

}  // namespace lemma::onnx
