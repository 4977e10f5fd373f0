// onnx/import/normalise.h — operators of older opsets in the form of the newest one: rows of an
// operator, the version that changed it, and what to do about calls from before.
#pragma once

#include <span>

#include "onnx/import/importer.h"

namespace lemma::onnx {

// False when the call cannot be brought to the newest form; that is reported.
using Normalise = bool (*)(Importer&, NodeCall&);

inline constexpr int64_t kAnyOpset = INT64_MAX;

struct NormaliseRow {
    const char* op;
    int64_t below;  // applies to opsets before this one
    Normalise apply;
};

// The call takes its first `count` inputs in the type, and its first result comes back in the type
// that the first input had.
void compute_in(Importer& importer, DType type, size_t count, NodeCall& call);

// Tells the definition the limits of a quantised type.
void set_limits(NodeCall& call, DType dtype);

std::span<const NormaliseRow> microsoft_rows();
std::span<const NormaliseRow> elementwise_rows();
std::span<const NormaliseRow> shape_rows();
std::span<const NormaliseRow> network_rows();
std::span<const NormaliseRow> quantized_rows();
std::span<const NormaliseRow> einsum_rows();
std::span<const NormaliseRow> ml_rows();

}  // namespace lemma::onnx
