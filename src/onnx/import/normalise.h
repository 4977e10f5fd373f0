// SPDX-License-Identifier: Apache-2.0
// onnx/import/normalise.h — brings calls to the form of their definition. Most of it is data: the
// changes in the operator table. An operator that needs more has a function.
#pragma once

#include "onnx/import/importer.h"

namespace lemma::onnx {

// changes.cpp. Returns false and reports if the change is impossible.
bool apply_change(const Change& change, Importer& importer, NodeCall& call);

// Casts the first `count` inputs to the type, and the first result back to the type of the first
// input.
void compute_in(Importer& importer, DType type, size_t count, NodeCall& call);
// Gives the definition the limits of a quantised type.
void set_limits(NodeCall& call, DType dtype);
// Combines inputs of different shapes by calls of the binary operator `op`.
void two_by_two(Importer& importer, NodeCall& call, const std::string& op);
// Whether an extent is known to be 0.
bool is_empty(Importer& importer, ValueId id);

// Operators with their own code; normalise.cpp has the list.
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
