// onnx/read.h — the bytes of a .onnx file as a Model. Unknown fields are passed over, as the format
// wants it. Memory is spent in proportion to the bytes that are there.
#pragma once

#include "base/result.h"
#include "onnx/model.h"

namespace lemma::onnx {

struct ReadLimits {
    int64_t max_parts = 20'000'000;  // nodes, attributes, tensors, names of all graphs together
};

// Holds the bytes of a mapped file that readers look at: all but the elements of large tensors,
// which are held by whoever decodes them. The error names the file.
Result<void> hold_model(const tensor::SharedBytes& bytes);

// An error says where the bytes are damaged, or that they are no model. What is wrong with single
// tensors is told by `Model::faults`.
Result<Model> read_model(tensor::SharedBytes bytes, const ReadLimits& limits = {});

}  // namespace lemma::onnx
