// onnx/import/normalise.h — calls in the form of their definition. Most of it is data: the changes
// in the operator table. What those cannot say is a function for the operator.
#pragma once

#include "onnx/import/importer.h"

namespace lemma::onnx {

// changes.cpp. False when the call cannot be brought to the form; that is reported.
bool apply_change(const Change& change, Importer& importer, NodeCall& call);

// The call takes its first `count` inputs in the type, and its first result comes back in the type
// that the first input had.
void compute_in(Importer& importer, DType type, size_t count, NodeCall& call);
// Tells the definition the limits of a quantised type.
void set_limits(NodeCall& call, DType dtype);
// Combines inputs of different shapes by calls of `op`, which takes two.
void two_by_two(Importer& importer, NodeCall& call, const std::string& op);
// Whether an extent is known to be 0.
bool is_empty(Importer& importer, ValueId id);

// Operators with code of their own; normalise.cpp has the list.
using Normalise = bool(Importer&, NodeCall&);
// normalise_basic.cpp
Normalise normalise_cast;
Normalise normalise_cast_like;
Normalise normalise_label_encoder;
Normalise normalise_mean;
Normalise normalise_split;
Normalise normalise_upsample;
// normalise_einsum.cpp
Normalise normalise_einsum;
// normalise_network.cpp
Normalise normalise_batch_normalization;
Normalise normalise_layer_normalization;
Normalise normalise_quantize_linear;
Normalise normalise_rms_normalization;
Normalise normalise_simplified_layer_normalization;
// normalise_microsoft.cpp
Normalise normalise_attention_heads;
Normalise normalise_mat_mul_n_bits;
Normalise normalise_q_gemm;

bool has_normalise_code(std::string_view op);

}  // namespace lemma::onnx
