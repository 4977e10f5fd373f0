// onnx/validate.h — the rules of the format that need no operator: names that exist, are made once
// and before they are used, and operator sets that are named.
#pragma once

#include "diag/diagnostic.h"
#include "onnx/model.h"

namespace lemma::onnx {

// The newest version of the default operator set that the definitions follow.
inline constexpr int64_t kNewestOpset = 26;
// The newest version of the format itself.
inline constexpr int64_t kNewestIrVersion = 13;

// Reports everything that is wrong. `file` holds the paths of the model.
void validate(const Model& model, diag::FileId file, Diagnostics& diag);

}  // namespace lemma::onnx
