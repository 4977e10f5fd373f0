// SPDX-License-Identifier: Apache-2.0
// onnx/validate.h — rules of the format that do not depend on operators: names exist, are defined
// once and before their use, and operator sets are declared.
#pragma once

#include "diag/diagnostic.h"
#include "onnx/model.h"

namespace lemma::onnx {

// The newest default operator set that the definitions follow.
inline constexpr int64_t kNewestOpset = 26;
// The newest version of the file format.
inline constexpr int64_t kNewestIrVersion = 13;

// Reports all problems. `file` holds the paths of the model.
void validate(const Model& model, diag::FileId file, Diagnostics& diag);

}  // namespace lemma::onnx
